//! A run: rows in key order in a file that never changes once it is whole (`docs/format.md`, "Runs").
//!
//! Every part of the file has a checksum over its bytes and its place, which is checked whenever the part is read from the disk.

mod directory;
mod writer;

use std::io;
use std::sync::{Arc, OnceLock};

use uuid::Uuid;

use crate::embedded::base::block::Found;
use crate::embedded::base::cache::Block;
use crate::embedded::base::fault::{BaseFault, Damage};
use crate::embedded::base::filter;
use crate::embedded::base::pool::{self, Pool};
use crate::embedded::bytes::{Reader, Writer};
use crate::embedded::disk::{DiskFile, fault::Task};
use crate::embedded::mend::Mend;
use crate::error::{Error, Result};
pub(super) use directory::Directory;
pub(super) use writer::RunWriter;

const MAGIC: &[u8; 8] = b"TBLROWS\0";
const VERSION: u32 = 1;
/// Bytes of the first part, without its checksum.
const HEADER: usize = 20;
/// Bytes of the last part, without its checksum.
const FOOTER: usize = 24;
/// Bytes that are copied at once.
const COPIED: u64 = 1 << 20;
/// Bytes of a checksum.
const SUM: usize = 4;

/// The file of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunFile {
    pub(super) number: u64,
    pub(super) identity: Uuid,
    pub(super) length: u64,
}

/// A run that a version of the base names.
#[derive(Debug)]
pub(super) struct Run {
    pool: Arc<Pool>,
    /// Its number, as in the name of its file. No other run of the folder ever has it.
    pub(super) number: u64,
    /// Tells it from all other runs, also from one of the same number in a copy of the folder that was written on.
    pub(super) identity: Uuid,
    /// The length of its file.
    pub(super) length: u64,
    /// Its first key.
    pub(super) first: Box<[u8]>,
    /// Its last key.
    pub(super) last: Box<[u8]>,
    directory: OnceLock<Directory>,
}

/// The checksum of a part of a run: it belongs to these bytes at this place alone.
fn sum(number: u64, offset: u64, bytes: &[u8]) -> u32 {
    let place = crc32c::crc32c_append(crc32c::crc32c(&number.to_le_bytes()), &offset.to_le_bytes());
    crc32c::crc32c_append(place, bytes)
}

/// The bytes of the header of a run.
fn header(number: u64) -> Vec<u8> {
    let mut out = Writer::default();
    out.raw(MAGIC);
    out.u32(VERSION);
    out.u64(number);
    out.into_bytes()
}

/// What the footer of a run says.
struct Footer {
    filter: u64,
    index: u64,
    entries: u64,
}

impl Footer {
    fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u64(self.filter);
        out.u64(self.index);
        out.u64(self.entries);
        out.into_bytes()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        Some(Self { filter: reader.u64()?, index: reader.u64()?, entries: reader.u64()? })
    }
}

impl Run {
    /// A run that was written before. Nothing is read yet.
    pub(super) fn new(
        pool: &Arc<Pool>,
        RunFile { number, identity, length }: RunFile,
        (first, last): (Box<[u8]>, Box<[u8]>),
    ) -> Self {
        Self { pool: Arc::clone(pool), number, identity, length, first, last, directory: OnceLock::new() }
    }

    /// What is wrong, with the file and the place.
    pub(super) fn corrupted(&self, offset: u64, damage: Damage) -> Error {
        let (run, folder) = (pool::name(self.number), self.pool.folder.clone());
        Error::of(BaseFault::BrokenRun { run, folder, offset, damage })
    }

    /// The error of rows at a place that cannot be read for this reason.
    pub(super) fn broken_rows(&self, offset: u64, source: Error) -> Error {
        let (run, folder) = (pool::name(self.number), self.pool.folder.clone());
        Error::of(BaseFault::BrokenRows { run, folder, offset, source })
    }

    fn failed(&self, offset: u64, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::NotFound => self.corrupted(offset, Damage::Missing),
            io::ErrorKind::UnexpectedEof => self.corrupted(offset, Damage::Short),
            _ => Task::ReadFile(pool::name(self.number).into()).failed(error),
        }
    }

    /// A part of the file whose checksum is right.
    fn part(&self, file: &dyn DiskFile, offset: u64, bytes: usize) -> Result<Vec<u8>> {
        let mut part = vec![0; bytes + SUM];
        file.read_at(offset, &mut part).map_err(|error| self.failed(offset, error))?;
        let (content, stored) = part.split_at_checked(bytes).unwrap_or_default();
        if stored != sum(self.number, offset, content).to_le_bytes() && Mend::CheckParts.is_in() {
            return Err(self.corrupted(offset, Damage::Checksum));
        }
        part.truncate(bytes);
        Ok(part)
    }

    /// The file, open.
    pub(super) fn file(&self) -> Result<Arc<dyn DiskFile>> {
        self.pool.file(self.number).map_err(|error| self.failed(0, error))
    }

    /// Where its blocks are. Read from the file once.
    pub(super) fn directory(&self) -> Result<&Directory> {
        if let Some(directory) = self.directory.get() {
            return Ok(directory);
        }
        let directory = self.read_directory()?;
        Ok(self.directory.get_or_init(|| directory))
    }

    /// Reads header, footer, filter and index from the disk, and checks them.
    pub(super) fn read_directory(&self) -> Result<Directory> {
        let file = self.file()?;
        if self.part(&*file, 0, HEADER)? != header(self.number) {
            return Err(self.corrupted(0, Damage::Header));
        }
        let sum = SUM as u64;
        let (blocks, end) = (HEADER as u64 + sum, self.length.saturating_sub(FOOTER as u64 + sum));
        let broken = || self.corrupted(end, Damage::Parts);
        let footer = Footer::read(&self.part(&*file, end, FOOTER)?).ok_or_else(broken)?;
        let bytes = |from: u64, to: u64| {
            let bytes = to.checked_sub(from)?.checked_sub(sum)?;
            (to <= end).then(|| usize::try_from(bytes).ok())?
        };
        let filter = bytes(footer.filter, footer.index).ok_or_else(broken)?;
        let index = bytes(footer.index, end).ok_or_else(broken)?;
        let filter = self.part(&*file, footer.filter, filter)?;
        let index = self.part(&*file, footer.index, index)?;
        let directory = Directory::read(&index, blocks, filter, footer.entries)
            .ok_or_else(|| self.corrupted(footer.index, Damage::Index))?;
        if directory.end() != footer.filter {
            return Err(broken());
        }
        Ok(directory)
    }

    /// Reads a block from the disk.
    pub(super) fn read_block(&self, index: usize) -> Result<Block> {
        let (offset, bytes) = self.directory()?.place(index);
        let part = self.part(&*self.file()?, offset, bytes)?;
        Block::read(part.into()).map_err(|error| self.broken_rows(offset, error))
    }

    /// A block. `keep` says whether it is likely to be wanted again.
    pub(super) fn block(&self, index: usize, keep: bool) -> Result<Arc<Block>> {
        let place = (self.number, u32::try_from(index).unwrap_or(u32::MAX));
        if !keep {
            return self.read_block(index).map(Arc::new);
        }
        if let Some(block) = self.pool.cache.get(place) {
            return Ok(block);
        }
        let block = Arc::new(self.read_block(index)?);
        self.pool.cache.insert(place, Arc::clone(&block));
        Ok(block)
    }

    /// What the run says of a key with this hash.
    pub(super) fn get(&self, key: &[u8], hash: u64) -> Result<Found> {
        if key < &*self.first || key > &*self.last {
            return Ok(Found::Nothing);
        }
        let directory = self.directory()?;
        if !filter::may_hold(directory.filter(), hash) {
            return Ok(Found::Nothing);
        }
        let index = directory.search(key);
        if index >= directory.len() {
            return Ok(Found::Nothing);
        }
        let block = self.block(index, true)?;
        block.layout.find(&block.bytes, key)
    }

    /// The same run in the folder of another pool.
    pub(super) fn in_pool(&self, pool: &Arc<Pool>) -> Self {
        let file = RunFile { number: self.number, identity: self.identity, length: self.length };
        Self::new(pool, file, (self.first.clone(), self.last.clone()))
    }

    /// Copies the file into the folder of another pool, durably but for its entry.
    pub(super) fn copy_to(&self, pool: &Pool) -> Result<()> {
        let (from, to) = (self.file()?, pool.create(self.number));
        let to = to.map_err(|error| Task::CopyRun.refused(error))?;
        let (mut at, mut piece) = (0, Vec::new());
        while at < self.length {
            piece.resize(usize::try_from((self.length - at).min(COPIED)).unwrap_or_default(), 0);
            from.read_at(at, &mut piece).map_err(|error| self.failed(at, error))?;
            to.write_at(at, &piece).map_err(|error| Task::CopyRun.refused(error))?;
            at += piece.len() as u64;
        }
        if Mend::SyncCopies.is_in() {
            to.sync_data().map_err(|error| Task::CopyRun.refused(error))?;
        }
        Ok(())
    }

    /// Removes the file.
    pub(super) fn remove(&self) -> io::Result<()> {
        self.pool.remove(self.number)
    }
}
