//! A writer for the runs of one flush or merge. It writes one run at a time.

use std::sync::Arc;

use table_store::Result;
use table_store::row::RowView;

use crate::base::pool::Pool;
use crate::base::run::{Run, RunWriter};
use crate::key;

/// A writer of consecutive runs.
pub(super) struct RunsWriter<'p> {
    pool: &'p Arc<Pool>,
    /// The run numbers assigned so far. The end of the range is the next free number.
    numbers: std::ops::Range<u64>,
    /// The size in bytes at which a run is finished and the next one is started.
    most: u64,
    current: Option<RunWriter>,
    /// The table of the last key.
    table: Option<u32>,
    runs: Vec<Arc<Run>>,
    finished: bool,
}

impl<'p> RunsWriter<'p> {
    pub(super) fn new(pool: &'p Arc<Pool>, next: u64, most: u64) -> Self {
        Self {
            pool,
            numbers: next..next,
            most,
            current: None,
            table: None,
            runs: Vec::new(),
            finished: false,
        }
    }

    /// Returns the current size in bytes of the unfinished run.
    pub(super) fn bytes(&self) -> u64 {
        self.current.as_ref().map_or(0, RunWriter::bytes)
    }

    pub(super) fn push(&mut self, key: &[u8], row: Option<RowView<'_>>) -> Result<()> {
        if self.bytes() >= self.most {
            self.end_run()?;
        }
        // IMPORTANT: a block never contains keys of two tables. Its first and last key would suggest that it may contain rows of every table between them. If
        // one of these tables were dropped, the block would be merged repeatedly.
        let table = key::table_of(key);
        if std::mem::replace(&mut self.table, table) != table {
            self.end_block()?;
        }
        let run = match &mut self.current {
            Some(run) => run,
            current @ None => {
                self.numbers.end += 1;
                current.insert(RunWriter::create(self.pool, self.numbers.end - 1)?)
            }
        };
        run.push(key, row)
    }

    pub(super) fn end_block(&mut self) -> Result<()> {
        self.current.as_mut().map_or(Ok(()), RunWriter::end_block)
    }

    fn end_run(&mut self) -> Result<()> {
        let Some(run) = self.current.take() else { return Ok(()) };
        self.runs.push(Arc::new(run.finish()?));
        Ok(())
    }

    /// Finishes the last run. Returns all runs, and the number of the next run.
    pub(super) fn finish(mut self) -> Result<(Vec<Arc<Run>>, u64)> {
        self.end_run()?;
        self.finished = true;
        Ok((std::mem::take(&mut self.runs), self.numbers.end))
    }
}

impl Drop for RunsWriter<'_> {
    /// Removes the files of all runs if the writer was not finished.
    fn drop(&mut self) {
        if !self.finished {
            for number in self.numbers.clone() {
                let _ = self.pool.remove(number);
            }
        }
    }
}
