//! Files of the simulated disk: the visible data, the durable data, and the unsynced writes.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::MutexGuard;

use table_core::embedded::testing::DiskFile;

use super::content::{Content, PAGE};
use super::faults::{EIO, Fate};
use super::{Call, SimulatedDisk, State};

/// One file.
#[derive(Clone, Debug, Default)]
pub(in crate::power) struct FileState {
    pub(in crate::power) current: Content,
    pub(in crate::power) durable: Content,
    pub(in crate::power) pending: Vec<Change>,
    /// `true` if a failed sync has discarded changes. The durable data then lacks these changes as well as the pending ones.
    lost: bool,
    /// The offset of a sector that cannot be read.
    pub(in crate::power) unreadable: Option<usize>,
}

/// An unsynced change to a file.
#[derive(Clone, Debug)]
pub(in crate::power) enum Change {
    Write { offset: usize, bytes: Written },
    SetLength(usize),
}

/// The bytes of one write. The bytes of a long write are shared with the file.
#[derive(Clone, Debug)]
pub(in crate::power) enum Written {
    Short(Vec<u8>),
    Long(Content),
}

impl Written {
    fn of(bytes: &[u8]) -> Self {
        if bytes.len() < PAGE { Self::Short(bytes.to_vec()) } else { Self::Long(bytes.into()) }
    }

    pub(in crate::power) fn len(&self) -> usize {
        match self {
            Self::Short(bytes) => bytes.len(),
            Self::Long(content) => content.len(),
        }
    }

    /// Writes a part of these bytes to a file at an offset.
    pub(in crate::power) fn write(&self, to: &mut Content, offset: usize, part: Range<usize>) {
        match self {
            Self::Short(bytes) => to.write(offset, bytes.get(part).unwrap_or_default()),
            Self::Long(content) => to.write_from(offset, content, part),
        }
    }
}

impl FileState {
    pub(super) fn set_length(&mut self, length: usize) {
        self.current.resize(length);
        self.pending.push(Change::SetLength(length));
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) {
        let bytes = Written::of(bytes);
        bytes.write(&mut self.current, offset, 0..bytes.len());
        self.pending.push(Change::Write { offset, bytes });
    }

    /// Makes the pending changes durable. Data discarded by an earlier failed sync remains lost.
    fn sync(&mut self) {
        for change in self.pending.drain(..) {
            match change {
                Change::SetLength(length) if self.lost => self.durable.resize(length),
                Change::Write { offset, bytes } if self.lost => {
                    bytes.write(&mut self.durable, offset, 0..bytes.len());
                }
                Change::SetLength(length) => self.durable.share(&self.current, length..usize::MAX),
                Change::Write { offset, bytes } => {
                    self.durable.share(&self.current, offset..offset + bytes.len());
                }
            }
        }
    }

    /// Discards the pending changes. They remain visible but never become durable.
    fn lose(&mut self) {
        self.lost |= !self.pending.is_empty();
        self.pending.clear();
    }

    /// Returns a file whose bytes are all durable.
    pub(in crate::power) fn settled(bytes: Content, unreadable: Option<usize>) -> Self {
        Self { current: bytes.clone(), durable: bytes, unreadable, ..Self::default() }
    }
}

#[derive(Debug)]
pub(super) struct SimulatedFile {
    pub(super) disk: SimulatedDisk,
    pub(super) number: usize,
    /// `true` if the engine uses this file while it holds a lock. The watcher is then not invoked. It may run other threads, and these could wait for that
    /// lock.
    pub(super) is_quiet: bool,
}

impl SimulatedFile {
    fn call(&self, call: &Call) -> io::Result<(MutexGuard<'_, State>, Fate)> {
        if self.is_quiet { self.disk.call_quietly(call) } else { self.disk.call(call) }
    }
}

fn place(number: u64) -> io::Result<usize> {
    usize::try_from(number).map_err(|_| ErrorKind::InvalidInput.into())
}

impl DiskFile for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        let mut state = self.disk.state();
        state.faults.powered()?;
        Ok(state.file(self.number)?.current.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let (mut state, fate) = self.call(&Call::Read(self.number, offset))?;
        fate.outcome()?;
        let (file, start) = (state.file(self.number)?, place(offset)?);
        let end = start.checked_add(buffer.len()).ok_or(ErrorKind::UnexpectedEof)?;
        if file.unreadable.is_some_and(|sector| (start..end).contains(&sector)) {
            return Err(io::Error::from_raw_os_error(EIO));
        }
        file.current.read(start, buffer).ok_or_else(|| ErrorKind::UnexpectedEof.into())
    }

    /// Writes the bytes. If the disk becomes full or the call fails, writes only some of them.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (mut state, fate) = self.call(&Call::Write(self.number, offset, bytes.len()))?;
        let start = place(offset)?;
        if let Fate::Fails(why) = fate {
            let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
            state.file(self.number)?.write(start, half);
            return Err(why.into());
        }
        let growth = (start + bytes.len()).saturating_sub(state.file(self.number)?.current.len());
        let missing = growth - state.faults.take_room(growth);
        let written = bytes.get(..bytes.len().saturating_sub(missing)).unwrap_or_default();
        state.file(self.number)?.write(start, written);
        if missing == 0 { Ok(()) } else { Err(state.faults.full().into()) }
    }

    fn has_other_names(&self) -> io::Result<bool> {
        let state = self.disk.state();
        state.faults.powered()?;
        Ok(state.has_other_names(self.number))
    }

    fn allocate(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.set_len(offset + bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let (mut state, fate) = self.call(&Call::SetLength(self.number, bytes))?;
        fate.outcome()?;
        let length = place(bytes)?;
        let old = state.file(self.number)?.current.len();
        let growth = length.saturating_sub(old);
        let taken = state.faults.take_room(growth);
        if taken < growth {
            // As after an interrupted allocation, the file keeps the space allocated so far.
            state.file(self.number)?.set_length(old + taken);
            return Err(state.faults.full().into());
        }
        state.faults.give_room(old.saturating_sub(length));
        state.file(self.number)?.set_length(length);
        Ok(())
    }

    /// Syncs the file. If the sync fails, the data is not on the disk. As on Linux, it nevertheless remains visible and counts as clean.
    fn sync_data(&self) -> io::Result<()> {
        let (mut state, fate) = self.call(&Call::Sync(self.number))?;
        let file = state.file(self.number)?;
        if let Err(error) = fate.outcome() {
            file.lose();
            return Err(error);
        }
        file.sync();
        Ok(())
    }
}
