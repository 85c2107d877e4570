//! Writes a log. Collects lines in blocks, and writes each block as a blob.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Attribute, Attributes, ObjectStore, PutMode, PutOptions, PutPayload};
use table_core::clock::Clock;
use table_core::{Error, Result};
use uuid::Uuid;

use crate::blob::InBlobs;
use crate::log_blobs::fault::LogBlobFault;
use crate::log_blobs::line::{LogKind, LogLine};
use crate::log_blobs::name::{blob, check_service, counter, folder, hour};

/// The number of occupied blob names after which a folder is listed again. The first listing is sent at the second occupied name. If two writers alternate,
/// each finds only one occupied name per block and needs no listing.
const LIST_AGAIN: u32 = 8;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Consecutive lines that are written as one blob.
#[derive(Debug)]
struct Block {
    text: String,
    first: DateTime<Utc>,
    last: DateTime<Utc>,
    kinds: [bool; 3],
    /// `true` if the block may already have been written. A retry must then write the unchanged block to the same folder, where readers recognise its lines.
    sealed: bool,
}

/// A writer for a service's log. See [the pattern](crate::log_blobs) for guarantees and costs.
///
/// Lines are held in memory until they are flushed. They are lost if the writer is dropped before the flush, or if the process crashes.
#[derive(Debug)]
pub struct LogWriter {
    blobs: Arc<dyn ObjectStore>,
    service: String,
    clock: Clock,
    bytes: usize,
    age: Duration,
    hold: usize,
    /// A random number that distinguishes this writer from all other writers, in any process.
    number: Uuid,
    lines: u64,
    blocks: VecDeque<Block>,
    /// The folder of the last written blob, and the next counter, which is probably free.
    next: Option<(Path, u64)>,
    metadata: bool,
}

impl LogWriter {
    /// Creates a writer with a buffer of 64 MiB. A flush is due after 4 MiB or 5 minutes.
    ///
    /// # Errors
    /// `InvalidInput` if the service name is empty, or contains characters other than lower-case letters, digits and `-`.
    pub fn new(blobs: Arc<dyn ObjectStore>, service: &str) -> Result<Self> {
        check_service(service)?;
        Ok(Self {
            blobs,
            service: service.to_owned(),
            clock: Clock::default(),
            bytes: 4 << 20,
            age: Duration::from_secs(5 * 60),
            hold: 64 << 20,
            number: Uuid::new_v4(),
            lines: 0,
            blocks: VecDeque::new(),
            next: None,
            metadata: true,
        })
    }

    /// Sets the block size in bytes at which a flush is due. With a size of 1, each line is written as a separate blob.
    #[must_use]
    pub fn flush_at(self, bytes: usize) -> Self {
        Self { bytes: bytes.max(1), ..self }
    }

    /// Sets the maximum age of the oldest buffered line, at most one hour. A flush is due when the line reaches this age. The limit exists because readers
    /// search only the hour of a line and the next hour (LOG-5).
    #[must_use]
    pub fn flush_after(self, age: Duration) -> Self {
        Self { age: age.min(HOUR), ..self }
    }

    /// Sets the maximum size of the buffer in bytes. If blobs cannot be written, the buffer fills up and further lines are refused.
    #[must_use]
    pub fn hold_at_most(self, bytes: usize) -> Self {
        Self { hold: bytes, ..self }
    }

    /// Sets the clock that determines the times of lines.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Buffers a line with the current time. Returns `true` if a flush is due. Sends no request.
    ///
    /// # Errors
    /// `ServerBusy` if the buffer is full; the line is then not buffered.
    pub fn append<F: Into<String>>(
        &mut self,
        kind: LogKind,
        fields: impl IntoIterator<Item = F>,
    ) -> Result<bool> {
        let line = LogLine {
            at: self.clock.instant(),
            kind,
            id: format!("{}-{}", self.number.simple(), self.lines),
            fields: fields.into_iter().map(Into::into).collect(),
        };
        let mut text = String::new();
        line.write(&mut text);
        let waiting = self.buffered();
        if waiting > 0 && waiting.saturating_add(text.len()) > self.hold {
            return Err(Error::of(LogBlobFault::Busy(waiting)));
        }
        self.lines += 1;
        let age = TimeDelta::from_std(self.age).unwrap_or(TimeDelta::hours(1));
        // The last line of a block must have the latest time. If the clock was set back, a new block begins.
        let fits = |block: &&mut Block| {
            let is_in_time = block.last <= line.at && line.at - block.first <= age;
            !block.sealed && block.text.len() + text.len() <= self.bytes && is_in_time
        };
        if let Some(block) = self.blocks.back_mut().filter(fits) {
            block.text.push_str(&text);
            block.last = line.at;
            block.add(kind);
        } else {
            let mut block = Block::new(text, line.at);
            block.add(kind);
            self.blocks.push_back(block);
        }
        Ok(self.is_due())
    }

    /// Returns the number of buffered bytes. They are lost if the process ends.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.blocks.iter().map(|block| block.text.len()).sum()
    }

    /// Returns `true` if a block is full, or if its oldest line has reached the maximum age, or if the clock was set back to a time before that line. Call this
    /// function periodically, because a flush may become due without new lines.
    #[must_use]
    pub fn is_due(&self) -> bool {
        let now = self.clock.instant();
        // The age is unknown if the clock was set back to a time before the first line.
        let is_old = |block: &Block| (now - block.first).to_std().map_or(true, |age| age >= self.age);
        self.blocks.len() > 1
            || self.blocks.front().is_some_and(|block| block.text.len() >= self.bytes || is_old(block))
    }

    /// Flushes the buffered blocks if a flush is due. Returns the number of blobs written.
    ///
    /// # Errors
    /// Any error from [`flush`](Self::flush).
    pub async fn flush_if_due(&mut self) -> Result<usize> {
        if self.is_due() { self.flush().await } else { Ok(0) }
    }

    /// Writes all buffered blocks, each as one blob. Returns the number of blobs written.
    ///
    /// # Errors
    /// Any error from the blob store. Blocks that were not written remain in the buffer. If the response for a block was lost, the block is written again, but
    /// readers return its lines only once.
    pub async fn flush(&mut self) -> Result<usize> {
        let mut written = 0;
        while let Some(block) = self.blocks.front_mut() {
            block.sealed = true;
            let folder = folder(&self.service, hour(block.last));
            let (payload, attributes) = (PutPayload::from(block.text.clone()), block.attributes());
            self.put(folder, payload, attributes).await?;
            self.blocks.pop_front();
            written += 1;
        }
        Ok(written)
    }

    /// Writes a new blob under the next free name in a folder.
    async fn put(&mut self, folder: Path, payload: PutPayload, attributes: Attributes) -> Result<()> {
        let mut at = match &self.next {
            Some((last, next)) if *last == folder => *next,
            _ => self.free(&folder).await?,
        };
        let mut taken = 0_u32;
        loop {
            let path = blob(&folder, at);
            let attributes = if self.metadata { attributes.clone() } else { Attributes::new() };
            let options = PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() };
            match self.blobs.put_opts(&path, payload.clone(), options).await {
                Ok(_) => {
                    self.next = Some((folder, at + 1));
                    return Ok(());
                }
                Err(object_store::Error::AlreadyExists { .. }) => {
                    at += 1;
                    // Other writers have added blobs. One listing counts them all without downloading their content.
                    if taken % LIST_AGAIN == 1 {
                        at = at.max(self.free(&folder).await?);
                    }
                    taken = taken.wrapping_add(1);
                }
                Err(error) if self.metadata && is_unsupported(&error) => self.metadata = false,
                Err(error) => return Err(error).in_blob(&path),
            }
        }
    }

    /// Returns the number of log blobs in a folder. If their counters have no gaps, this is the next counter. A blob of another program with a large counter
    /// causes a gap, but the counters below it can still be used.
    async fn free(&self, folder: &Path) -> Result<u64> {
        let mut names = self.blobs.list(Some(folder));
        let mut count = 0;
        while let Some(meta) = names.try_next().await.in_blob(folder)? {
            count += u64::from(counter(&meta.location).is_some());
        }
        Ok(count)
    }
}

impl Block {
    const fn new(text: String, at: DateTime<Utc>) -> Self {
        Self { text, first: at, last: at, kinds: [false; 3], sealed: false }
    }

    fn add(&mut self, kind: LogKind) {
        for (has, known) in self.kinds.iter_mut().zip(LogKind::ALL) {
            *has |= known == kind;
        }
    }

    /// Returns the metadata for this block's blob (LOG-4).
    fn attributes(&self) -> Attributes {
        let second = |instant: DateTime<Utc>| instant.to_rfc3339_opts(SecondsFormat::Secs, true);
        let kinds = self.kinds.into_iter().zip(LogKind::ALL).filter(|(has, _)| *has);
        let kinds: Vec<&str> = kinds.map(|(_, kind)| kind.as_str()).collect();
        [
            ("LogType", kinds.join(",")),
            ("StartTime", second(self.first)),
            ("EndTime", second(self.last)),
            ("LogVersion", super::line::VERSION.to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (Attribute::Metadata(name.into()), value))
        .collect()
    }
}

/// Returns `true` if the error means that the store cannot store metadata.
const fn is_unsupported(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. })
}
