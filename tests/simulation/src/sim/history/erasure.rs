//! Tests that no rows remain on the disk after all tables and the queue have been deleted.

use std::path::Path;
use std::sync::Arc;

use table_core::embedded::Engine;
use table_core::embedded::testing::Scheduler;
use table_core::queue::QueueStore;
use table_core::{Error, ErrorCode, Result, TableStore};

use super::queues::queue;
use super::rest::REST;
use super::{FOLDER, History};
use crate::sim::model::Wrong;
use crate::sim::schedule::Shared;

/// Returns the result of a deletion. A missing queue counts as success.
fn if_present(deleted: Result<()>) -> Result<()> {
    match deleted {
        Err(error) if error.code() == ErrorCode::QueueNotFound => Ok(()),
        deleted => deleted,
    }
}

impl History {
    /// Deletes all tables and the queue. Then checks that the base (the engine's merged files) is empty and that its files
    /// have been removed. The model does not record these deletions.
    pub(super) fn erase(&mut self, engine: &Engine) -> std::result::Result<(), Wrong> {
        if self.is_in_trouble() || self.excuses.is_damaged() || self.excuses.time_over {
            return Ok(());
        }
        self.log.add("everything is deleted".to_owned());
        self.delete_all(engine)
            .map_err(|error| Wrong(format!("a deletion of everything received {error}")))?;
        (self.snapshot, self.image) = (None, None);
        Shared(Arc::clone(&self.schedule)).sleep(REST);
        let is_left =
            |path: &Path| path.starts_with(FOLDER) && path.extension().is_some_and(|end| end == "rows");
        let left: Vec<_> = self.disk.files().into_iter().map(|(path, _)| path).collect();
        let left: Vec<_> = left.into_iter().filter(|path| is_left(path) && !self.is_foreign(path)).collect();
        match engine.statistics() {
            Ok(now) if now.runs == 0 && now.memtable_rows == 0 && left.is_empty() => Ok(()),
            now => Err(Wrong(format!("everything is deleted, but {left:?} are left: {now:?}"))),
        }
    }

    fn delete_all(&self, engine: &Engine) -> Result<(), Error> {
        for name in pollster::block_on(engine.list_tables("", None, 1_000))?.names {
            self.schedule.block_on(engine.delete_table(&name))?;
        }
        if_present(self.schedule.block_on(engine.delete_queue(&queue()?)))?;
        self.schedule.block_on(engine.compact())
    }
}
