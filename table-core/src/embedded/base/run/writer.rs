//! Writes the file of a run, in slices, each of them synced: a great sync at the end would keep the journal's syncs waiting.

use std::sync::Arc;

use uuid::Uuid;

use crate::embedded::base::block::BlockWriter;
use crate::embedded::base::fault::BaseFault;
use crate::embedded::base::filter;
use crate::embedded::base::pool::Pool;
use crate::embedded::base::run::{Directory, Footer, HEADER, Run, RunFile, SUM, header, sum};
use crate::embedded::disk::{DiskFile, fault::Task};
use crate::embedded::mend::Mend;
use crate::error::{Error, Result};
use crate::row::RowView;

/// Bytes that are written at once, and synced.
const SLICE: usize = 1 << 20;

/// A run in the making.
pub(in super::super) struct RunWriter {
    pool: Arc<Pool>,
    number: u64,
    file: Arc<dyn DiskFile>,
    /// Bytes that are written.
    written: u64,
    /// Bytes that are to be written behind them.
    pending: Vec<u8>,
    block: BlockWriter,
    encoded: Vec<u8>,
    directory: Directory,
    hashes: Vec<u64>,
}

impl RunWriter {
    /// Begins a run in a file of this number.
    pub(in super::super) fn create(pool: &Arc<Pool>, number: u64) -> Result<Self> {
        let file = pool.create(number).map_err(|error| Task::CreateRun.refused(error))?;
        let mut writer = Self {
            pool: Arc::clone(pool),
            number,
            file,
            written: 0,
            pending: Vec::new(),
            block: BlockWriter::default(),
            encoded: Vec::new(),
            directory: Directory::at((HEADER + SUM) as u64),
            hashes: Vec::new(),
        };
        writer.part(&header(number));
        Ok(writer)
    }

    /// Bytes of the file so far, about.
    pub(in super::super) fn bytes(&self) -> u64 {
        self.written + (self.pending.len() + self.block.bytes()) as u64
    }

    /// Appends a row, or a deletion, whose key is above all others.
    pub(in super::super) fn push(&mut self, key: &[u8], row: Option<RowView<'_>>) -> Result<()> {
        if self.block.is_full(key, row) {
            self.end_block()?;
        }
        self.block.push(key, row);
        self.hashes.push(filter::hash(key));
        Ok(())
    }

    /// Lets the next row begin a block.
    pub(in super::super) fn end_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let (first, last) = self.block.ends();
        let (first, last) = (first.to_vec(), last.to_vec());
        let mut block = std::mem::take(&mut self.encoded);
        block.clear();
        self.block.finish(&mut block);
        self.part(&block);
        let pushed = self.directory.push(block.len(), &first, &last);
        self.encoded = block;
        pushed.ok_or_else(|| Error::of(BaseFault::TooManyBlocks))?;
        if self.pending.len() >= SLICE { self.write() } else { Ok(()) }
    }

    /// Appends a part with its checksum; its offset.
    fn part(&mut self, bytes: &[u8]) -> u64 {
        let offset = self.written + self.pending.len() as u64;
        self.pending.extend_from_slice(bytes);
        self.pending.extend_from_slice(&sum(self.number, offset, bytes).to_le_bytes());
        offset
    }

    fn write(&mut self) -> Result<()> {
        let write = || {
            self.file.write_at(self.written, &self.pending)?;
            if Mend::SyncRuns.is_in() { self.file.sync_data() } else { Ok(()) }
        };
        write().map_err(|error| Task::WriteRun.refused(error))?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Makes the run whole and its bytes durable; its name becomes so with the next sync of the folder.
    pub(in super::super) fn finish(mut self) -> Result<Run> {
        self.end_block()?;
        let bits = filter::build(&self.hashes);
        let filter = self.part(&bits);
        self.directory.complete(bits, self.hashes.len() as u64);
        let index = self.part(&self.directory.write());
        self.part(&Footer { filter, index, entries: self.hashes.len() as u64 }.write());
        self.write()?;
        let last = self.directory.len().saturating_sub(1);
        let ends = (self.directory.first(0).into(), self.directory.last(last).into());
        let file = RunFile { number: self.number, identity: Uuid::new_v4(), length: self.written };
        let run = Run::new(&self.pool, file, ends);
        // What was just written need not be read.
        let _ = run.directory.set(self.directory);
        Ok(run)
    }
}
