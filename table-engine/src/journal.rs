//! The journal: append-only files of frames. They make writes durable before the writes become visible (`docs/format.md`, "Journal").

pub(crate) mod fault;
pub(crate) mod file;
pub(crate) mod frame;
pub(crate) mod reader;
mod reuse;
pub(crate) mod synced;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use table_store::{ErrorCode, Result};

use crate::bytes::Writer;
use crate::disk::fault::{Task, is_full};
use crate::disk::{Disk, DiskFile};
use crate::event::event;
use crate::failpoint::{Hook, Step, reach};
use crate::journal::file::{FileHeader, Salt};
use crate::journal::frame::Record;
use crate::journal::synced::{Mark, Synced};
use crate::reserve::Reserve;

pub(crate) use reuse::reuse;

/// The number of zero bytes that are written ahead of the frames. With these zeros, most syncs need not record a new file length or new blocks, and are about a
/// third faster.
const AHEAD: usize = 1 << 20;
/// The maximum total size in bytes of a group's frames, not counting the last frame.
pub(crate) const GROUP_BYTES: usize = 8 << 20;
static ZEROS: [u8; AHEAD] = [0; AHEAD];

/// The end of the journal: the last file, and the position of the next frame in it.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) number: u64,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) salt: Salt,
    /// The offset of the next frame.
    pub(crate) end: u64,
    /// The length of the file. The bytes after `end` are zeros or, in a reused file, bytes of the old content.
    pub(crate) filled: u64,
    /// The sequence number of the next frame.
    pub(crate) sequence: u64,
    /// `true` if the file has no frames, or its last frame is a closing frame.
    pub(crate) is_closed: bool,
    /// The checksum over all frames in the file.
    pub(crate) frames: u32,
}

impl Tail {
    /// Returns the position of the next frame.
    pub(crate) fn mark(&self) -> Mark {
        Mark { journal: self.number, sequence: self.sequence, frames: self.frames }
    }
}

/// The writer of the journal. Only the committer uses it.
#[derive(Debug)]
pub(crate) struct Journal {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    hook: Option<Hook>,
    reserve: Arc<Reserve>,
    tail: Tail,
    /// The next file, if it has been created in advance.
    next: Option<Tail>,
    /// All frames with smaller sequence numbers are durable.
    durable: u64,
    synced: Synced,
    /// The frames of the current group.
    group: Writer,
    frames: u64,
    /// The checksum over all frames in the file before the current group.
    before: u32,
}

impl Journal {
    /// Opens the journal of a folder for writing at its end. The existing frames must be durable.
    pub(crate) fn new(
        (disk, folder): (Arc<dyn Disk>, PathBuf),
        hook: Option<Hook>,
        reserve: Arc<Reserve>,
        tail: Tail,
        mut synced: Synced,
    ) -> Self {
        if !tail.is_closed {
            synced.raise(tail.mark());
        }
        let (durable, before) = (tail.sequence, tail.frames);
        let (next, group) = (None, Writer::default());
        Self { disk, folder, hook, reserve, tail, next, durable, synced, group, frames: 0, before }
    }

    /// Durably creates an empty journal file.
    pub(crate) fn create(disk: &dyn Disk, folder: &Path, number: u64, sequence: u64) -> Result<Tail> {
        let salt = Salt::random();
        let header = FileHeader { number, sequence, salt }.write();
        let make = || {
            let file = disk.open(&file::path(folder, number), true)?;
            file.write_at(0, &header)?;
            file.sync_data()?;
            // IMPORTANT: the directory entry is durable before a frame is written, because a missing file in the sequence of journal files would be
            // treated as corruption.
            disk.sync_dir(folder)?;
            let (end, filled) = (file::HEADER, file::HEADER);
            Ok(Tail { number, file, salt, end, filled, sequence, is_closed: true, frames: 0 })
        };
        make().map_err(|error| Task::CreateJournal.refused(error))
    }

    /// Adds a transaction's frame to the current group.
    pub(crate) fn push(&mut self, record: &Record) {
        let (salt, sequence) = (self.tail.salt, self.tail.sequence);
        let head = frame::write(record, salt, sequence, self.durable, &mut self.group);
        self.tail.frames = head.chain(self.tail.frames);
        self.tail.sequence += 1;
        self.tail.is_closed = false;
        self.frames += 1;
    }

    /// Writes the group. If `sync` is `true`, makes the group and all earlier frames durable. If `frees` is `true`, the group frees space and may use the
    /// reserve.
    ///
    /// # Errors
    /// `DiskFull` if the disk is full. The group is then rolled back, and the journal remains usable. After any other error, the journal must not be used.
    pub(crate) fn commit(&mut self, sync: bool, frees: bool) -> Result<()> {
        if self.group.as_bytes().is_empty() {
            return Ok(());
        }
        reach(self.hook.as_ref(), Step::JournalWrite)?;
        let written = match self.write(frees) {
            Err(error) if frees && is_full(&error) => match self.reserve.lend() {
                Some(_loan) => self.write(frees),
                None => Err(error),
            },
            written => written,
        };
        if let Err(error) = written {
            let error = Task::WriteJournal.refused(error);
            if error.code() == ErrorCode::DiskFull {
                self.take_back().map_err(|error| Task::CutJournal.failed(error))?;
            }
            return Err(error);
        }
        self.group.clear(2 * GROUP_BYTES);
        (self.frames, self.before) = (0, self.tail.frames);
        if sync { self.sync() } else { Ok(()) }
    }

    fn write(&mut self, frees: bool) -> io::Result<()> {
        let end = self.tail.end + self.group.as_bytes().len() as u64;
        // IMPORTANT: the reserve must be large enough for a checkpoint of all frames, including the frames of groups that free space. It grows in steps, so
        // most groups need no call to the disk.
        self.reserve.raise_for(end.next_multiple_of(AHEAD as u64));
        if !frees {
            self.reserve.restore_in_turn()?;
        }
        if end > self.tail.filled {
            self.write_ahead(end, frees)?;
        }
        self.tail.file.write_at(self.tail.end, self.group.as_bytes())?;
        self.tail.end = end;
        self.tail.filled = self.tail.filled.max(end);
        Ok(())
    }

    /// Writes zeros after `end`, the offset of the end of the group's frames.
    fn write_ahead(&mut self, end: u64, frees: bool) -> io::Result<()> {
        let start = self.tail.filled.max(end);
        match self.tail.file.write_at(start, &ZEROS) {
            // The frames themselves may still fit into the free space.
            Err(error) if frees && is_full(&error) => self.tail.file.set_len(self.tail.filled),
            written => {
                written?;
                self.tail.filled = start + AHEAD as u64;
                Ok(())
            }
        }
    }

    /// Durably rolls back a group that could not be written because the disk was full.
    fn take_back(&mut self) -> io::Result<()> {
        self.tail.file.set_len(self.tail.end)?;
        // IMPORTANT: the rollback is durable before the group is refused, so a later open never finds one of its frames.
        self.tail.file.sync_data()?;
        self.tail.filled = self.tail.end;
        self.tail.sequence -= std::mem::take(&mut self.frames);
        self.durable = self.tail.sequence;
        self.tail.frames = self.before;
        self.group.clear(2 * GROUP_BYTES);
        Ok(())
    }

    /// Makes the journal durable, then appends a closing frame, that is, a frame without writes.
    ///
    /// The closing frame proves that all earlier frames were durable. If the last of them is corrupted, the next open does not mistake it for a write that a
    /// crash interrupted. Losing the closing frame is harmless.
    ///
    /// Afterwards, the function frees the space after the last frame, the next file, and the part of the reserve that the journal does not need. Finally, it
    /// records all frames except the closing frame as synced.
    pub(crate) fn close(&mut self, ticks: u64) -> Result<()> {
        self.sync()?;
        let is_new = !self.tail.is_closed || self.tail.end == file::HEADER;
        let mark = Some(self.tail.mark()).filter(|_| is_new);
        if let Err(error) = self.end_file(ticks) {
            // This failure is harmless: all writes are durable without the closing frame.
            event!(debug, %error, "the journal has no closing frame, or keeps unused space");
        }
        self.group.clear(2 * GROUP_BYTES);
        self.free_unused();
        if let Some(mark) = mark {
            self.synced.raise(mark);
        }
        Ok(())
    }

    /// Frees the space of the next file, and the part of the reserve that the journal does not need.
    pub(crate) fn free_unused(&mut self) {
        self.give_room_back();
        if let Err(error) = self.shrink_reserve() {
            // This failure is harmless: the reserve may be larger than necessary.
            event!(debug, %error, "the reserve keeps its size");
        }
    }

    /// Shrinks the reserve, unless earlier files still contain frames.
    fn shrink_reserve(&self) -> io::Result<()> {
        let files = self.disk.list(&self.folder)?;
        if files.iter().filter_map(|name| file::number(name)).any(|number| number < self.tail.number) {
            return Ok(());
        }
        self.reserve.shrink_for(self.tail.end)
    }

    fn end_file(&mut self, ticks: u64) -> io::Result<()> {
        if !self.tail.is_closed {
            self.push(&Record::Write { ticks, changes: Vec::new() });
            self.write(true)?;
        }
        if self.tail.filled > self.tail.end {
            self.tail.file.set_len(self.tail.end)?;
            self.tail.filled = self.tail.end;
        }
        self.tail.file.sync_data()
    }

    /// Makes all written frames durable.
    pub(crate) fn sync(&mut self) -> Result<()> {
        if self.durable == self.tail.sequence {
            return Ok(());
        }
        reach(self.hook.as_ref(), Step::JournalSync)?;
        self.tail.file.sync_data().map_err(|error| Task::SyncJournal.failed(error))?;
        self.durable = self.tail.sequence;
        Ok(())
    }

    /// Sets the file to which the next rotation switches.
    pub(crate) fn prepare(&mut self, next: Tail) {
        self.next = Some(next);
    }

    /// Removes the next file to free its disk space. The current file is also truncated if it was reused and has much unused space.
    pub(crate) fn give_room_back(&mut self) {
        if let Some(next) = self.next.take() {
            let _ = self.disk.remove(&file::path(&self.folder, next.number));
        }
        if self.tail.filled > self.tail.end + AHEAD as u64 && self.tail.file.set_len(self.tail.end).is_ok() {
            self.tail.filled = self.tail.end;
        }
    }

    /// Switches to the next file. Returns the number of that file and the sequence number of its first frame.
    ///
    /// # Errors
    /// If disk space or file descriptors run out, the journal continues in the old file. In that case, the new file is empty or missing, and the next open
    /// ignores it. After any other error, the journal must not be used.
    pub(crate) fn rotate(&mut self) -> Result<(u64, u64)> {
        // IMPORTANT: the old file is made durable before a frame is written to the new file, because only the last file with frames may end with a torn write.
        self.sync()?;
        reach(self.hook.as_ref(), Step::JournalCreate)?;
        let (number, sequence) = (self.tail.number + 1, self.tail.sequence);
        self.tail = match self.next.take().filter(|next| next.number == number) {
            Some(next) => Tail { sequence, ..next },
            None => match self.create_next(number, sequence) {
                Err(error) if error.code() == ErrorCode::DiskFull => {
                    let _loan = self.reserve.lend().ok_or(error)?;
                    self.create_next(number, sequence)?
                }
                created => created?,
            },
        };
        self.before = self.tail.frames;
        Ok((self.tail.number, self.tail.sequence))
    }

    fn create_next(&self, number: u64, sequence: u64) -> Result<Tail> {
        Self::create(&*self.disk, &self.folder, number, sequence).inspect_err(|_| {
            let _ = self.disk.remove(&file::path(&self.folder, number));
        })
    }

    /// Returns the current size of the group in bytes.
    pub(crate) fn group_bytes(&self) -> usize {
        self.group.as_bytes().len()
    }

    /// Returns the total size of the frames in the current file, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.tail.end
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.give_room_back();
    }
}
