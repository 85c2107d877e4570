//! The journal: append-only files of frames that make writes durable before they are visible (`docs/format.md`, "Journal").

pub(crate) mod fault;
pub(crate) mod file;
pub(crate) mod frame;
pub(crate) mod reader;
mod reuse;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::embedded::bytes::Writer;
use crate::embedded::disk::fault::Task;
use crate::embedded::disk::{Disk, DiskFile};
use crate::embedded::failpoint::{Hook, Step, reach};
use crate::embedded::journal::file::{FileHeader, Salt};
use crate::embedded::journal::frame::Record;
use crate::embedded::mend::Mend;
use crate::error::{ErrorCode, Result};

pub(crate) use reuse::reuse;

/// Space is filled with zeros in pieces of this size ahead of the frames: a sync that need not record a new length, nor find
/// blocks, takes about two thirds of the time.
const AHEAD: usize = 1 << 20;

/// Where the journal ends: a file with room for the next frame at `end`.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) number: u64,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) salt: Salt,
    /// Where the next frame goes.
    pub(crate) end: u64,
    /// The length of the file. From `end` on it has zeros, or what the file held when it had another number.
    pub(crate) filled: u64,
    /// The sequence number of the next frame.
    pub(crate) sequence: u64,
}

/// Writes the journal. Used by the committer alone.
#[derive(Debug)]
pub(crate) struct Journal {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    hook: Option<Hook>,
    tail: Tail,
    /// The next file, where one is there already.
    next: Option<Tail>,
    /// Every frame below this sequence number is durable.
    durable: u64,
    group: Writer,
    /// Frames of the group.
    frames: u64,
}

impl Journal {
    /// Goes on at a tail, all of which is durable.
    pub(crate) fn new(disk: Arc<dyn Disk>, folder: PathBuf, hook: Option<Hook>, tail: Tail) -> Self {
        let durable = tail.sequence;
        Self { disk, folder, hook, tail, next: None, durable, group: Writer::default(), frames: 0 }
    }

    /// Makes an empty journal file, durably.
    pub(crate) fn create(disk: &dyn Disk, folder: &Path, number: u64, sequence: u64) -> Result<Tail> {
        let salt = Salt::random();
        let header = FileHeader { number, sequence, salt }.write();
        let make = || {
            let file = disk.open(&file::path(folder, number), true)?;
            file.write_at(0, &header)?;
            file.sync_data()?;
            // IMPORTANT: the entry is durable before a frame is written: a journal file is never missing between others.
            if Mend::SyncJournalEntry.is_in() {
                disk.sync_dir(folder)?;
            }
            Ok(Tail { number, file, salt, end: file::HEADER, filled: file::HEADER, sequence })
        };
        make().map_err(|error| Task::CreateJournal.refused(error))
    }

    /// Adds the frame of a transaction to the group.
    pub(crate) fn push(&mut self, record: &Record) {
        frame::write(record, self.tail.salt, self.tail.sequence, self.durable, &mut self.group);
        self.tail.sequence += 1;
        self.frames += 1;
    }

    /// Writes the group and, if asked, makes it and all before it durable.
    ///
    /// # Errors
    /// After `DiskFull` the journal is as it was before the group, and goes on. After anything else it must not be used.
    pub(crate) fn commit(&mut self, sync: bool) -> Result<()> {
        if self.group.as_bytes().is_empty() {
            return Ok(());
        }
        reach(self.hook.as_ref(), Step::JournalWrite)?;
        if let Err(error) = self.write() {
            let error = Task::WriteJournal.refused(error);
            if error.code() == ErrorCode::DiskFull {
                self.take_back().map_err(|error| Task::CutJournal.failed(error))?;
            }
            return Err(error);
        }
        self.group.clear();
        self.frames = 0;
        if sync { self.sync() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        let bytes = self.group.as_bytes();
        let end = self.tail.end + bytes.len() as u64;
        if end > self.tail.filled {
            let ahead = vec![0; AHEAD];
            let start = self.tail.filled.max(end);
            self.tail.file.write_at(start, &ahead)?;
            self.tail.filled = start + AHEAD as u64;
        }
        self.tail.file.write_at(self.tail.end, bytes)?;
        self.tail.end = end;
        Ok(())
    }

    /// Undoes a group that found no room.
    fn take_back(&mut self) -> io::Result<()> {
        self.tail.file.set_len(self.tail.end)?;
        // IMPORTANT: durable before the group is refused: no later open may find a frame of it.
        self.tail.file.sync_data()?;
        self.tail.filled = self.tail.end;
        self.tail.sequence -= std::mem::take(&mut self.frames);
        self.durable = self.tail.sequence;
        self.group.clear();
        Ok(())
    }

    /// Makes all that was written durable.
    pub(crate) fn sync(&mut self) -> Result<()> {
        if self.durable == self.tail.sequence {
            return Ok(());
        }
        reach(self.hook.as_ref(), Step::JournalSync)?;
        self.tail.file.sync_data().map_err(|error| Task::SyncJournal.failed(error))?;
        self.durable = self.tail.sequence;
        Ok(())
    }

    /// Takes a file that the journal is to go on in.
    pub(crate) fn prepare(&mut self, next: Tail) {
        self.next = Some(next);
    }

    /// Gives the room of the next file back.
    pub(crate) fn give_room_back(&mut self) {
        if let Some(next) = self.next.take() {
            let _ = self.disk.remove(&file::path(&self.folder, next.number));
        }
    }

    /// Goes on in the next file; its number and the sequence number of its first frame.
    ///
    /// # Errors
    /// After `DiskFull` it goes on in the old file. What there is of the new one holds nothing, and is passed over by the next
    /// open. After anything else the journal must not be used.
    pub(crate) fn rotate(&mut self) -> Result<(u64, u64)> {
        // IMPORTANT: the old file is durable before the new one has a frame: only the last file with frames may have a torn tail.
        self.sync()?;
        reach(self.hook.as_ref(), Step::JournalCreate)?;
        let (number, sequence) = (self.tail.number + 1, self.tail.sequence);
        self.tail = match self.next.take().filter(|next| next.number == number) {
            Some(next) => Tail { sequence, ..next },
            None => Self::create(&*self.disk, &self.folder, number, sequence).inspect_err(|_| {
                let _ = self.disk.remove(&file::path(&self.folder, number));
            })?,
        };
        Ok((self.tail.number, self.tail.sequence))
    }

    /// Bytes of the group so far.
    pub(crate) fn group_bytes(&self) -> usize {
        self.group.as_bytes().len()
    }

    /// Bytes of frames in the present file.
    pub(crate) fn bytes(&self) -> u64 {
        self.tail.end
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.give_room_back();
    }
}
