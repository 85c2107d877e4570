//! Reads a log by time range. Selects hours by name prefix, blobs by metadata, and lines by time (LOG-5).

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use futures_core::Stream;
use futures_util::{TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Attribute, GetResult, ObjectStore, ObjectStoreExt};
use table_core::{Error, Result};

use crate::blob::InBlobs;
use crate::log_blobs::fault::LogBlobFault;
use crate::log_blobs::line::{LogKind, LogLine};
use crate::log_blobs::name::{check_service, counter, folder, hour};

/// A reader for a service's log. See [the pattern](crate::log_blobs).
#[derive(Clone, Debug)]
pub struct LogReader {
    blobs: Arc<dyn ObjectStore>,
    service: String,
}

/// The log lines to read: a time range, and the kinds of operations.
#[derive(Clone, Debug)]
struct Wanted {
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    kinds: Vec<LogKind>,
}

/// The state of a read in progress.
struct Reading {
    reader: LogReader,
    wanted: Wanted,
    /// The next hour whose blobs are listed.
    hour: Option<DateTime<Utc>>,
    /// The blobs in the current hour that have not yet been read, in reverse order.
    paths: Vec<Path>,
    /// The ids of the lines in the current hour that have already been returned. If a block was written twice, both copies are in the same hour.
    seen: HashSet<String>,
}

impl LogReader {
    /// Creates a reader for a service's log.
    ///
    /// # Errors
    /// `InvalidInput` if the service name is empty, or contains characters other than lower-case letters, digits and `-`.
    pub fn new(blobs: Arc<dyn ObjectStore>, service: &str) -> Result<Self> {
        check_service(service)?;
        Ok(Self { blobs, service: service.to_owned() })
    }

    /// Streams the lines of the given kinds, blob by blob. The time of each line is between `from` (inclusive) and `to` (exclusive). Within a blob, the lines
    /// are in write order. Consecutive blobs may overlap in time by up to an hour.
    ///
    /// If the last item is an error, the remaining lines are unknown. The error is `Corrupted` if a line is invalid; all other errors come from the blob store.
    pub fn stream(
        &self,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
        kinds: &[LogKind],
    ) -> impl Stream<Item = Result<LogLine>> + Send + use<> {
        let reading = Reading {
            reader: self.clone(),
            wanted: Wanted { from, to, kinds: kinds.to_vec() },
            hour: (from < to).then(|| hour(from)),
            paths: Vec::new(),
            seen: HashSet::new(),
        };
        stream::try_unfold(reading, |mut reading| async move {
            let lines = reading.next().await?;
            Ok::<_, Error>(lines.map(|lines| (stream::iter(lines.into_iter().map(Ok)), reading)))
        })
        .try_flatten()
    }

    /// Returns the selected lines in chronological order.
    ///
    /// # Errors
    /// Any error from [`stream`](Self::stream).
    pub async fn collect(
        &self,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
        kinds: &[LogKind],
    ) -> Result<Vec<LogLine>> {
        let mut lines: Vec<LogLine> = self.stream(from, to, kinds).try_collect().await?;
        // The sort is stable, so lines of the same time keep their order.
        lines.sort_by_key(|line| line.at);
        Ok(lines)
    }
}

impl Reading {
    /// Returns the selected lines of the next blob that may contain any. Returns `None` after the last blob.
    async fn next(&mut self) -> Result<Option<Vec<LogLine>>> {
        loop {
            if let Some(path) = self.paths.pop() {
                let found = self.reader.blobs.get(&path).await.in_blob(&path)?;
                if self.wanted.may_be_in(&found) {
                    let content = found.bytes().await.in_blob(&path)?;
                    return self.lines(&path, &content).map(Some);
                }
                continue;
            }
            // A block is stored under the hour of its last line, which is at most an hour later than its first line (LOG-5).
            let lag = TimeDelta::hours(1);
            let end = self.wanted.to.checked_add_signed(lag).unwrap_or(DateTime::<Utc>::MAX_UTC);
            let Some(hour) = self.hour.filter(|hour| *hour <= end) else { return Ok(None) };
            self.paths = self.list(hour).await?;
            self.hour = hour.checked_add_signed(lag);
            self.seen.clear();
        }
    }

    async fn list(&self, hour: DateTime<Utc>) -> Result<Vec<Path>> {
        let folder = folder(&self.reader.service, hour);
        let listing = self.reader.blobs.list(Some(&folder)).map_ok(|meta| meta.location);
        let mut paths: Vec<Path> = listing.try_collect().await.in_blob(&folder)?;
        paths.retain(|path| counter(path).is_some());
        // Seven-digit counters come after six-digit counters, although the names of their blobs sort first.
        paths.sort_by_key(|path| Reverse(counter(path)));
        Ok(paths)
    }

    fn lines(&mut self, path: &Path, content: &Bytes) -> Result<Vec<LogLine>> {
        let text = str::from_utf8(content).map_err(|_| Error::of(LogBlobFault::Text(path.to_string())))?;
        let mut lines = Vec::new();
        for line in text.split_inclusive('\n') {
            let end = || Error::of(LogBlobFault::End(path.to_string()));
            let line = line.strip_suffix('\n').ok_or_else(end)?;
            let line = LogLine::parse(line)
                .map_err(|source| Error::of(LogBlobFault::BrokenLine { blob: path.to_string(), source }))?;
            if self.wanted.is(&line) && self.seen.insert(line.id.clone()) {
                lines.push(line);
            }
        }
        Ok(lines)
    }
}

impl Wanted {
    fn is(&self, line: &LogLine) -> bool {
        self.from <= line.at && line.at < self.to && self.kinds.contains(&line.kind)
    }

    /// Returns `true` if a blob may contain a selected line, judging by its metadata. A blob without metadata may contain one.
    fn may_be_in(&self, found: &GetResult) -> bool {
        // The comparison ignores case: the names are HTTP headers, and the store returns them in lower case (BLB-9).
        let is = |attribute: &Attribute, name: &str| matches!(attribute, Attribute::Metadata(own) if own.eq_ignore_ascii_case(name));
        let text = |name: &str| {
            let mut attributes = found.attributes.iter();
            attributes.find(|(attribute, _)| is(attribute, name)).map(|(_, value)| value.as_ref())
        };
        let instant = |name: &str| text(name).and_then(|text| text.parse::<DateTime<Utc>>().ok());
        let has_kind =
            |kinds: &str| kinds.split(',').filter_map(LogKind::parse).any(|kind| self.kinds.contains(&kind));
        // The metadata contains whole seconds. Fractions are truncated.
        let second = TimeDelta::seconds(1);
        text("LogType").is_none_or(has_kind)
            && instant("StartTime").is_none_or(|start| start < self.to)
            && instant("EndTime").is_none_or(|end| self.from - end < second)
    }
}
