//! Runs: files with rows in key order. A finished run never changes (`docs/format.md`, "Runs").
//!
//! Each part of a file has a checksum that covers its bytes and its offset. The checksum is verified whenever the part is read from the disk.

mod directory;
mod writer;

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use table_store::{Error, ErrorCode, Result};
use uuid::Uuid;

use crate::base::block::Found;
use crate::base::cache::Block;
use crate::base::fault::{BaseFault, Damage, is_disk_error};
use crate::base::filter;
use crate::base::pool::{self, Pool};
use crate::base::tally::Tally;
use crate::bytes::{Reader, Writer};
use crate::disk::DiskFile;
use crate::disk::fault::{Task, is_exhausted};
pub(super) use directory::{Directory, Form};
pub(super) use writer::RunWriter;

const MAGIC: &[u8; 8] = b"TBLROWS\0";
const VERSION: u32 = 2;
/// The first format version. It has no tallies.
const WITHOUT_TALLIES: u32 = 1;
/// The size of the header without its checksum.
const HEADER: usize = 20;
/// The size of the footer without its checksum. In format version 1, the size is `FIRST_FOOTER`.
const FOOTER: usize = 40;
const FIRST_FOOTER: usize = 24;
/// The number of bytes copied at a time.
const COPIED: u64 = 1 << 20;
/// The size of a checksum in bytes.
const SUM: usize = 4;

/// The file that contains a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunFile {
    pub(super) number: u64,
    pub(super) identity: Uuid,
    pub(super) length: u64,
}

/// A finished, immutable run.
#[derive(Debug)]
pub(super) struct Run {
    pool: Arc<Pool>,
    /// The number in the name of the file. It is never reused for another run in the folder.
    pub(super) number: u64,
    /// A random identity. It distinguishes the run from a run with the same number in a copy of the folder.
    pub(super) identity: Uuid,
    /// The length of the file in bytes.
    pub(super) length: u64,
    /// The key of the first entry.
    pub(super) first: Box<[u8]>,
    /// The key of the last entry.
    pub(super) last: Box<[u8]>,
    /// The directory once it has been read, or the error if it is corrupted.
    directory: OnceLock<Result<Directory>>,
    /// `true` if a scan has skipped a part of the run. Only the first skip is logged.
    is_skipped: AtomicBool,
}

/// Returns the checksum of a part of a run. The checksum also covers the run number and the offset.
fn sum(number: u64, offset: u64, bytes: &[u8]) -> u32 {
    let place = crc32c::crc32c_append(crc32c::crc32c(&number.to_le_bytes()), &offset.to_le_bytes());
    crc32c::crc32c_append(place, bytes)
}

/// Returns the bytes of a run's header.
fn header(version: u32, number: u64) -> Vec<u8> {
    let mut out = Writer::default();
    out.raw(MAGIC);
    out.u32(version);
    out.u64(number);
    out.into_bytes()
}

/// The footer of a run: the offsets of the filter and the index, and the tally of all entries.
struct Footer {
    filter: u64,
    index: u64,
    tally: Tally,
}

impl Footer {
    fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u64(self.filter);
        out.u64(self.index);
        out.u64(self.tally.entries);
        out.u64(self.tally.deletions);
        out.u64(self.tally.sum);
        out.into_bytes()
    }

    fn read(bytes: &[u8], version: u32) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let (filter, index) = (reader.u64()?, reader.u64()?);
        let mut tally = Tally { entries: reader.u64()?, ..Tally::default() };
        if version != WITHOUT_TALLIES {
            (tally.deletions, tally.sum) = (reader.u64()?, reader.u64()?);
        }
        Some(Self { filter, index, tally })
    }
}

impl Run {
    /// Creates a handle to a finished run without reading the file.
    pub(super) fn new(
        pool: &Arc<Pool>,
        RunFile { number, identity, length }: RunFile,
        (first, last): (Box<[u8]>, Box<[u8]>),
    ) -> Self {
        let (directory, is_skipped) = (OnceLock::new(), AtomicBool::new(false));
        Self { pool: Arc::clone(pool), number, identity, length, first, last, directory, is_skipped }
    }

    /// Returns the error for corruption at the given offset of the file.
    pub(super) fn corrupted(&self, offset: u64, damage: Damage) -> Error {
        let (run, folder) = (pool::name(self.number), self.pool.folder.clone());
        Error::of(BaseFault::BrokenRun { run, folder, offset, damage })
    }

    /// Returns the error for unreadable rows at an offset.
    pub(super) fn broken_rows(&self, offset: u64, source: Error) -> Error {
        let (run, folder) = (pool::name(self.number), self.pool.folder.clone());
        Error::of(BaseFault::BrokenRows { run, folder, offset, source })
    }

    /// Returns the error for a failed read. Bytes that cannot be read are treated like corrupted bytes, so the other parts of the base can still be read,
    /// merged and copied.
    fn failed(&self, offset: u64, error: io::Error) -> Error {
        use io::ErrorKind::{NotFound, PermissionDenied, TimedOut, UnexpectedEof};
        match error.kind() {
            NotFound => self.corrupted(offset, Damage::Missing).with_source(error),
            UnexpectedEof => self.corrupted(offset, Damage::Short),
            PermissionDenied | TimedOut => Task::ReadFile(pool::name(self.number).into()).failed(error),
            _ if is_exhausted(&error) => Task::ReadFile(pool::name(self.number).into()).refused(error),
            _ => {
                let (run, folder) = (pool::name(self.number), self.pool.folder.clone());
                Error::of(BaseFault::Unreadable { run, folder, offset, source: error })
            }
        }
    }

    /// Reads a part of the file and verifies its checksum.
    fn part(&self, file: &dyn DiskFile, offset: u64, bytes: usize) -> Result<Vec<u8>> {
        let mut part = vec![0; bytes + SUM];
        file.read_at(offset, &mut part).map_err(|error| self.failed(offset, error))?;
        let (content, stored) = part.split_at_checked(bytes).unwrap_or_default();
        if stored != sum(self.number, offset, content).to_le_bytes() {
            return Err(self.corrupted(offset, Damage::Checksum));
        }
        part.truncate(bytes);
        Ok(part)
    }

    /// Returns `true` if the run may contain keys from `start` (inclusive) to `end` (exclusive). This function reads no file.
    pub(super) fn may_hold(&self, start: &[u8], end: Option<&[u8]>) -> bool {
        *self.last >= *start && end.is_none_or(|end| *self.first < *end)
    }

    /// Returns the run's file, open for reading.
    pub(super) fn file(&self) -> Result<Arc<dyn DiskFile>> {
        self.pool.file(self.number).map_err(|error| self.failed(0, error))
    }

    /// Returns the directory. It is read from the file once and then kept. An error for a corrupted directory is kept as well. After a disk error, the next
    /// call reads the directory again.
    pub(super) fn directory(&self) -> Result<&Directory> {
        let known = match self.directory.get() {
            Some(known) => known,
            None => match self.read_directory() {
                Err(error) if error.code() != ErrorCode::Corrupted || is_disk_error(&error) => {
                    return Err(error);
                }
                read => self.directory.get_or_init(|| read),
            },
        };
        known.as_ref().map_err(Error::clone)
    }

    /// Marks the run as skipped. Only the first call returns `true`.
    pub(super) fn is_first_skip(&self) -> bool {
        !self.is_skipped.swap(true, Ordering::Relaxed)
    }

    /// Reads the header, the footer, the filter and the index from the disk, and verifies them.
    pub(super) fn read_directory(&self) -> Result<Directory> {
        let file = self.file()?;
        let begin = self.part(&*file, 0, HEADER)?;
        let is_of = |version: &u32| begin == header(*version, self.number);
        let version = [VERSION, WITHOUT_TALLIES].into_iter().find(is_of);
        let version = version.ok_or_else(|| self.corrupted(0, Damage::Header))?;
        let (footer, form) = match version {
            WITHOUT_TALLIES => (FIRST_FOOTER, Form::Plain),
            _ => (FOOTER, Form::Tallied),
        };
        let sum = SUM as u64;
        let (blocks, end) = (HEADER as u64 + sum, self.length.saturating_sub(footer as u64 + sum));
        let broken = || self.corrupted(end, Damage::Parts);
        let footer = Footer::read(&self.part(&*file, end, footer)?, version).ok_or_else(broken)?;
        let bytes = |from: u64, to: u64| {
            let bytes = to.checked_sub(from)?.checked_sub(sum)?;
            (to <= end).then(|| usize::try_from(bytes).ok())?
        };
        let filter = bytes(footer.filter, footer.index).ok_or_else(broken)?;
        let index = bytes(footer.index, end).ok_or_else(broken)?;
        let filter = self.part(&*file, footer.filter, filter)?;
        let index = self.part(&*file, footer.index, index)?;
        let directory = Directory::read(&index, form, blocks, filter, footer.tally.entries)
            .ok_or_else(|| self.corrupted(footer.index, Damage::Index))?;
        if directory.end() != footer.filter || directory.total().is_some_and(|total| total != footer.tally) {
            return Err(broken());
        }
        Ok(directory)
    }

    /// Returns the tally of the entries from `start` (inclusive) to `end` (exclusive). For a block within these bounds, the tally is taken from the directory.
    /// A block that extends beyond the bounds or has no tally is read.
    pub(super) fn tally(&self, start: &[u8], end: Option<&[u8]>) -> Result<Tally> {
        if !self.may_hold(start, end) {
            return Ok(Tally::default());
        }
        let directory = self.directory()?;
        let tally_of = |index| {
            let is_inside = !directory.begins_below(index, start)
                && end.is_none_or(|end| directory.ends_below(index, end));
            match directory.tally(index).filter(|_| is_inside) {
                Some(tally) => Ok(tally),
                None => self.read_tally(index, start, end),
            }
        };
        directory.within(start, end).map(tally_of).sum()
    }

    /// Returns the tally of a block's entries from `start` (inclusive) to `end` (exclusive).
    fn read_tally(&self, index: usize, start: &[u8], end: Option<&[u8]>) -> Result<Tally> {
        let (mut tally, mut joined) = (Tally::default(), Vec::new());
        self.read_block(index)?.visit(|key, row| {
            let key = key.join(&mut joined);
            if key >= start && end.is_none_or(|end| key < end) {
                tally.add(key, row);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(tally)
    }

    /// Reads a block from the disk.
    pub(super) fn read_block(&self, index: usize) -> Result<Block> {
        self.read_block_of(self.directory()?, index)
    }

    /// Reads a block from the disk, given the run's directory.
    pub(super) fn read_block_of(&self, directory: &Directory, index: usize) -> Result<Block> {
        let (offset, bytes) = directory.place(index);
        let part = self.part(&*self.file()?, offset, bytes)?;
        Block::read(part.into()).map_err(|error| self.broken_rows(offset, error))
    }

    /// Returns a block. If `keep` is `true`, the block is read through the cache.
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

    /// Looks up a key whose hash is `hash`.
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

    /// Returns `true` if the run may have an entry for a key with the given hash. This function reads no file. If the filter is not in memory, it returns
    /// `true`.
    pub(super) fn is_possible(&self, hash: u64) -> bool {
        let Some(Ok(directory)) = self.directory.get() else { return true };
        filter::may_hold(directory.filter(), hash)
    }

    /// Returns a handle to the copy of this run in the folder of another pool.
    pub(super) fn in_pool(&self, pool: &Arc<Pool>) -> Self {
        let file = RunFile { number: self.number, identity: self.identity, length: self.length };
        Self::new(pool, file, (self.first.clone(), self.last.clone()))
    }

    /// Copies the file into the folder of another pool. The file is synced, but the folder is not.
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
        to.sync_data().map_err(|error| Task::CopyRun.refused(error))
    }

    /// Removes the run's file.
    pub(super) fn remove(&self) -> io::Result<()> {
        self.pool.remove(self.number)
    }
}
