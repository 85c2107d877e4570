//! A consistent view of one version of the base. Readers use it to read rows.

use std::sync::Arc;

use table_store::Result;
use table_store::row::Row;
use uuid::Uuid;

use crate::base::block::Found;
use crate::base::cursor::{BaseCursor, Reading, Skipped};
use crate::base::filter;
use crate::base::pool::Pool;
use crate::base::run::Run;
use crate::base::version::stored::Stored;
use crate::base::version::{Layer, Segment};
use crate::key::{self, Span};
use crate::statistics::Statistics;

/// A view of one version of the base. Clones are cheap.
#[derive(Clone)]
pub(crate) struct BaseView {
    pub(super) pool: Arc<Pool>,
    pub(super) stored: Arc<Stored>,
}

impl BaseView {
    /// Returns the engine's unique identifier.
    pub(crate) fn engine(&self) -> Uuid {
        self.stored.engine
    }

    /// Returns `true` if the base belongs to a new folder. The journal of such a folder may be missing or incomplete.
    pub(crate) fn is_new(&self) -> bool {
        let meta = &self.stored.meta;
        self.stored.lineage.is_empty() && meta.journal == 1 && meta.sequence == 1
    }

    /// Looks up the row with the given key.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Row>> {
        self.get_unless(key, |_, _| false)
    }

    /// Looks up the row with the given key. Skipped parts are not read. If one of them may have an entry for the key, the function returns `None`.
    pub(crate) fn get_around(&self, key: &[u8], skipped: &Skipped) -> Result<Option<Row>> {
        self.get_unless(key, |run, hash| skipped.contains_in(run.number, key) && run.is_possible(hash))
    }

    /// Looks up the row with the given key. `ends` is called for each run, with the hash of the key. If it returns `true`, the search stops and returns `None`.
    fn get_unless(&self, key: &[u8], ends: impl Fn(&Run, u64) -> bool) -> Result<Option<Row>> {
        let Some(segment) = self.stored.version.segments().get(self.stored.version.find(key)) else {
            return Ok(None);
        };
        let hash = filter::hash(key);
        for layer in &segment.layers {
            if ends(&layer.run, hash) {
                return Ok(None);
            }
            match layer.run.get(key, hash)? {
                Found::Nothing => {}
                Found::Deletion => return Ok(None),
                Found::Row(row) => return Ok(Some(row)),
            }
        }
        Ok(None)
    }

    /// Returns a cursor over the rows in a span.
    pub(crate) fn range(&self, span: &Span) -> Result<BaseCursor> {
        BaseCursor::new(&self.stored.version, span, Reading { keep: true, skipped: None })
    }

    /// Returns a cursor over the rows in a span. The cursor skips unreadable parts of the base, and adds their key ranges to `skipped`.
    pub(crate) fn range_around(&self, span: &Span, skipped: &Skipped) -> Result<BaseCursor> {
        let reading = Reading { keep: true, skipped: Some(skipped.clone()) };
        BaseCursor::new(&self.stored.version, span, reading)
    }

    /// Returns a cursor over the rows in a span, for rows that are read only once. The cursor bypasses the cache.
    pub(crate) fn sweep(&self, span: &Span) -> Result<BaseCursor> {
        BaseCursor::new(&self.stored.version, span, Reading { keep: false, skipped: None })
    }

    /// Estimates the size of a table in bytes without reading a file. If a run contains several tables, its size is divided equally among them.
    pub(crate) fn bytes_of(&self, table: u32) -> u64 {
        let span = Span::table(table);
        let share = |layer: &Layer| {
            let (first, last) = (key::table_of(&layer.run.first), key::table_of(&layer.run.last));
            let tables = last.unwrap_or_default().saturating_sub(first.unwrap_or_default());
            layer.weight.bytes / (u64::from(tables) + 1)
        };
        self.layers_of(&span).map(share).sum()
    }

    /// Returns the layers that may contain rows in `span`.
    fn layers_of(&self, span: &Span) -> impl Iterator<Item = &Layer> {
        let version = &self.stored.version;
        let segments = version.segments().get(version.find(&span.start)..).unwrap_or_default();
        let within = |segment: &&Arc<Segment>| *segment.start < *span.end;
        let layers = segments.iter().take_while(within).flat_map(|segment| &segment.layers);
        layers.filter(|layer| layer.run.may_hold(&span.start, Some(&span.end)))
    }

    /// Sets the fields of `statistics` that describe the base and its cache.
    pub(crate) fn describe(&self, statistics: &mut Statistics) {
        let (runs, segments) = (self.stored.version.runs(), self.stored.version.segments());
        statistics.runs = runs.len();
        statistics.base_bytes = runs.iter().map(|run| run.length).sum();
        statistics.segments = segments.len();
        statistics.layers = segments.iter().map(|segment| segment.layers.len()).max().unwrap_or_default();
        statistics.unmerged_bytes = segments.iter().map(|segment| segment.newer_bytes()).sum();
        statistics.deletions = segments.iter().map(|segment| segment.deletions()).sum();
        (statistics.cache_hits, statistics.cache_misses) = self.pool.cache.hits_and_misses();
        self.pool.counters.describe(statistics);
    }

    /// Closes the files of runs that are not being read.
    pub(crate) fn give_files_back(&self) {
        self.pool.give_files_back();
    }

    /// Returns `true` if the file of a run may contain rows in a span. Also returns `true` if this version has no such run. This function reads no file.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn file_may_hold(&self, file: &str, span: &Span) -> bool {
        let runs = self.stored.version.runs();
        let run = runs.iter().find(|run| crate::base::pool::name(run.number) == file);
        run.is_none_or(|run| run.may_hold(&span.start, Some(&span.end)))
    }

    /// Returns `true` if the base may have rows in a span. This function reads no file.
    pub(crate) fn may_hold(&self, span: &Span) -> bool {
        self.layers_of(span).next().is_some()
    }
}
