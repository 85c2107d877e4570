//! Reads that skip unreadable parts of the base.

use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::rc::Rc;

use table_store::{Error, ErrorCode, Result};

use crate::base::fault::is_disk_error;
use crate::base::run::Run;
use crate::event::event;

/// The unreadable parts that a scan has skipped. All cursors of the scan share this list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skipped(Rc<RefCell<Vec<Part>>>);

/// An unreadable part of a run.
#[derive(Debug)]
struct Part {
    /// The number of the run.
    run: u64,
    keys: RangeInclusive<Vec<u8>>,
    /// `true` if the disk returned an error, so a later read may succeed. `false` if the disk returned corrupted bytes.
    is_disk_error: bool,
}

impl Skipped {
    /// Returns `true` if the scan has skipped nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns `true` if one of the skipped parts may contain an entry with the given key.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        self.0.borrow().iter().any(|part| part.contains(key))
    }

    /// Returns `true` if one of the skipped parts of a run may contain an entry with the given key.
    pub(in super::super) fn contains_in(&self, run: u64, key: &[u8]) -> bool {
        self.0.borrow().iter().any(|part| part.run == run && part.contains(key))
    }

    /// Returns the smallest key of the parts skipped because of a disk error. A later read of these parts may succeed.
    pub(crate) fn first_disk_error(&self) -> Option<Vec<u8>> {
        let parts = self.0.borrow();
        parts.iter().filter(|part| part.is_disk_error).map(|part| part.keys.start()).min().cloned()
    }
}

impl Part {
    fn contains(&self, key: &[u8]) -> bool {
        self.keys.start().as_slice() <= key && key <= self.keys.end().as_slice()
    }
}

/// The read options of a cursor.
#[derive(Clone)]
pub(in super::super) struct Reading {
    /// `true` if blocks are read through the cache.
    pub(in super::super) keep: bool,
    /// The list of skipped parts, or `None` if the scan must stop at an unreadable part.
    pub(in super::super) skipped: Option<Skipped>,
}

impl Reading {
    /// Records that the keys from `first` to `last` of a run cannot be read. For each run, only the first skipped part is logged as a warning.
    ///
    /// # Errors
    /// Returns `error` itself if it does not report corruption, or if the scan must not skip anything.
    pub(super) fn skip(&self, run: &Run, first: Vec<u8>, last: Vec<u8>, error: Error) -> Result<()> {
        let Some(skipped) = self.skipped.as_ref().filter(|_| error.code() == ErrorCode::Corrupted) else {
            return Err(error);
        };
        if run.is_first_skip() {
            event!(warn, %error, "a part of the base was skipped");
        } else {
            event!(debug, %error, "a part of the base was skipped");
        }
        let is_disk_error = is_disk_error(&error);
        skipped.0.borrow_mut().push(Part { run: run.number, keys: first..=last, is_disk_error });
        Ok(())
    }
}
