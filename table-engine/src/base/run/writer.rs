//! Writes a run in chunks of about 1 MiB. Each chunk is synced separately, because one large sync at the end would delay journal syncs.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use table_store::row::RowView;
use table_store::{Error, Result};
use uuid::Uuid;

use crate::base::block::BlockWriter;
use crate::base::fault::BaseFault;
use crate::base::filter;
use crate::base::pool::Pool;
use crate::base::run::directory::Form;
use crate::base::run::{Directory, Footer, HEADER, Run, RunFile, SUM, VERSION, header, sum};
use crate::base::tally::Tally;
use crate::disk::{DiskFile, fault::Task};

/// The minimum number of bytes written between two syncs.
const SLICE: usize = 1 << 20;

/// A writer for the file of a single run.
pub(in super::super) struct RunWriter {
    pool: Arc<Pool>,
    number: u64,
    file: Arc<dyn DiskFile>,
    /// The number of bytes already written.
    written: u64,
    /// The bytes to write next.
    pending: Vec<u8>,
    block: BlockWriter,
    encoded: Vec<u8>,
    directory: Directory,
    hashes: Vec<u64>,
    /// The tally of the open block.
    tally: Tally,
    total: Tally,
}

impl RunWriter {
    /// Creates the file of a run.
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
            tally: Tally::default(),
            total: Tally::default(),
        };
        writer.part(&header(VERSION, number));
        Ok(writer)
    }

    /// Returns the approximate length of the file, including data not yet written.
    pub(in super::super) fn bytes(&self) -> u64 {
        self.written + (self.pending.len() + self.block.bytes()) as u64
    }

    /// Appends a row or a tombstone. Its key must be greater than all earlier keys.
    pub(in super::super) fn push(&mut self, key: &[u8], row: Option<RowView<'_>>) -> Result<()> {
        if self.block.is_full(key, row) {
            self.end_block()?;
        }
        self.block.push(key, row);
        let hash = filter::hash(key);
        self.hashes.push(hash);
        self.tally.add_hashed(hash, row);
        Ok(())
    }

    /// Finishes the open block. The next row then starts a new block.
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
        let tally = std::mem::take(&mut self.tally);
        self.total = self.total.with(tally);
        let pushed = self.directory.push(block.len(), (&first, &last), Some(tally));
        self.encoded = block;
        pushed.ok_or_else(|| Error::of(BaseFault::TooManyBlocks))?;
        if self.pending.len() >= SLICE { self.write() } else { Ok(()) }
    }

    /// Appends a part and its checksum. Returns the offset of the part.
    fn part(&mut self, bytes: &[u8]) -> u64 {
        let offset = self.written + self.pending.len() as u64;
        self.pending.extend_from_slice(bytes);
        self.pending.extend_from_slice(&sum(self.number, offset, bytes).to_le_bytes());
        offset
    }

    fn write(&mut self) -> Result<()> {
        self.pool.attempted.fetch_add(self.pending.len() as u64, Ordering::Relaxed);
        let write = || {
            self.file.write_at(self.written, &self.pending)?;
            self.file.sync_data()
        };
        write().map_err(|error| Task::WriteRun.refused(error))?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Finishes the run and syncs the file. The file's directory entry becomes durable when the folder is synced.
    pub(in super::super) fn finish(mut self) -> Result<Run> {
        self.end_block()?;
        let bits = filter::build(&self.hashes);
        let filter = self.part(&bits);
        self.directory.complete(bits, self.hashes.len() as u64);
        let index = self.part(&self.directory.write(Form::Tallied));
        self.part(&Footer { filter, index, tally: self.total }.write());
        self.write()?;
        let last = self.directory.len().saturating_sub(1);
        let ends = (self.directory.first(0).into(), self.directory.last(last).into());
        let file = RunFile { number: self.number, identity: Uuid::new_v4(), length: self.written };
        let run = Run::new(&self.pool, file, ends);
        // The directory of a new run is already in memory.
        let _ = run.directory.set(Ok(self.directory));
        Ok(run)
    }
}
