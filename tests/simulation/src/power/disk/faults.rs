//! Disk faults. A fault occurs at a certain time and causes an error.

use std::io::{self, ErrorKind};

use super::Call;

/// A disk fault, and the time at which it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The power fails at the n-th sync from now (1-based). The sync has no effect, and every later call fails.
    PowerAtSync(u64),
    /// The power fails at the n-th call from now (1-based) that changes or syncs something. The call has no effect, and every later call fails.
    PowerAtCall(u64),
    /// The n-th sync from now (1-based) fails. The data that it should have made durable is lost. Later calls succeed.
    SyncFails(u64),
    /// The n-th call from now (1-based) that changes or syncs something fails. A write then writes only some of its bytes. Later calls succeed.
    CallFails(u64),
    /// The n-th call from now (1-based) that changes or syncs something fails, because the disk is full. A write then writes only some of its bytes. Later
    /// calls succeed.
    CallFull(u64),
    /// The disk is full once its files have grown by the given number of bytes.
    FullAfter(u64),
    /// `NoDescriptors(successes, failures)`: after `successes` successful opens, no file descriptor is free, and the next `failures` opens fail.
    NoDescriptors(u64, u64),
    /// The n-th call of any kind from now (1-based) fails, because no memory is free. A write then writes only some of its bytes.
    NoMemory(u64),
}

/// The Unix error number (`errno`) of an I/O error. The next two constants are for a lack of memory and a lack of file descriptors.
pub(super) const EIO: i32 = 5;
const ENOMEM: i32 = 12;
const EMFILE: i32 = 24;

/// The error kinds that systems use to report a lack of disk space.
const FULL: [ErrorKind; 3] = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];

/// The outcome of a call to the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Done,
    Fails(Why),
}

/// The reason why a call fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Fault,
    Full(ErrorKind),
    NoDescriptor,
    NoMemory,
}

impl From<Why> for io::Error {
    fn from(why: Why) -> Self {
        match why {
            Why::Fault => Self::other("a fault of the disk"),
            Why::Full(kind) => kind.into(),
            Why::NoDescriptor => Self::from_raw_os_error(EMFILE),
            Why::NoMemory => Self::from_raw_os_error(ENOMEM),
        }
    }
}

impl Fate {
    pub(super) fn outcome(self) -> io::Result<()> {
        match self {
            Self::Done => Ok(()),
            Self::Fails(why) => Err(why.into()),
        }
    }
}

/// The disk's current fault, and the counters that determine the time at which it occurs.
#[derive(Debug, Default)]
pub(super) struct Faults {
    fault: Option<Fault>,
    failed: bool,
    /// `true` if the power has failed.
    pub(super) lost: bool,
    pub(super) syncs: u64,
    /// The number of calls that changed or synced something.
    pub(super) changes: u64,
}

impl Faults {
    pub(super) fn set(&mut self, fault: Option<Fault>) {
        self.fault = fault;
        if fault.is_some() {
            self.failed = false;
        }
    }

    /// Returns `true` if the most recently set fault has occurred.
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    pub(super) fn powered(&self) -> io::Result<()> {
        if self.lost { Err(io::Error::other("the power is off")) } else { Ok(()) }
    }

    /// Returns an error kind for a full disk. The kind varies from call to call.
    pub(super) fn full(&self) -> ErrorKind {
        let [full, quota, size] = FULL;
        match self.changes % 3 {
            0 => full,
            1 => quota,
            _ => size,
        }
    }

    /// Counts a call and returns its outcome.
    pub(super) fn count(&mut self, call: &Call) -> io::Result<Fate> {
        self.powered()?;
        let is_sync = matches!(call, Call::Sync(_) | Call::SyncDir);
        self.syncs += u64::from(is_sync);
        self.changes += u64::from(call.changes());
        let full = Why::Full(self.full());
        let (left, power, why) = match &mut self.fault {
            Some(Fault::PowerAtSync(left)) if is_sync => (left, true, Why::Fault),
            Some(Fault::PowerAtCall(left)) if call.changes() => (left, true, Why::Fault),
            Some(Fault::SyncFails(left)) if is_sync => (left, false, Why::Fault),
            Some(Fault::CallFails(left)) if call.changes() => (left, false, Why::Fault),
            Some(Fault::CallFull(left)) if call.changes() => (left, false, full),
            Some(Fault::NoMemory(left)) => (left, false, Why::NoMemory),
            Some(Fault::NoDescriptors(before, during)) if matches!(call, Call::Open(_) | Call::Create(_)) => {
                if *before > 0 {
                    *before -= 1;
                    return Ok(Fate::Done);
                }
                let fails = *during > 0;
                *during = during.saturating_sub(1);
                self.failed |= fails;
                return Ok(if fails { Fate::Fails(Why::NoDescriptor) } else { Fate::Done });
            }
            _ => return Ok(Fate::Done),
        };
        *left = left.saturating_sub(1);
        if *left > 0 {
            return Ok(Fate::Done);
        }
        (self.fault, self.failed, self.lost) = (None, true, power);
        self.powered()?;
        Ok(Fate::Fails(why))
    }

    /// Allocates space for the given number of bytes. If less space remains, allocates that. Returns the number of bytes allocated.
    pub(super) fn take_room(&mut self, bytes: usize) -> usize {
        let Some(Fault::FullAfter(left)) = &mut self.fault else { return bytes };
        let taken = bytes.min(usize::try_from(*left).unwrap_or(usize::MAX));
        *left -= taken as u64;
        self.failed |= taken < bytes;
        taken
    }

    pub(super) fn give_room_beyond(&mut self, held: u64, needed: u64) {
        if let Some(Fault::FullAfter(left)) = &mut self.fault {
            *left = (*left).max(needed.saturating_sub(held));
        }
    }

    pub(super) fn give_room(&mut self, bytes: usize) {
        if let Some(Fault::FullAfter(left)) = &mut self.fault {
            *left = left.saturating_add(bytes as u64);
        }
    }
}
