//! Reads that continue after a part of the base that cannot be read.

use std::cell::RefCell;
use std::error::Error as StdError;
use std::io;
use std::ops::RangeInclusive;
use std::rc::Rc;

use table_store::{Error, ErrorCode, Result};

/// The unreadable parts that a scan has skipped. All cursors of the scan share one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skipped(Rc<RefCell<Vec<Part>>>);

/// An unreadable part of a run.
#[derive(Debug)]
struct Part {
    keys: RangeInclusive<Vec<u8>>,
    /// `true` if the disk returned an error, so a later read may succeed. `false` if the disk returned damaged bytes.
    is_disk_error: bool,
}

impl Skipped {
    /// Returns `true` if the scan has skipped nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns `true` if one of the skipped parts may contain an entry with the given key.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        let is_in = |Part { keys, .. }: &Part| keys.start().as_slice() <= key && key <= keys.end().as_slice();
        self.0.borrow().iter().any(is_in)
    }

    /// Returns the first key of the parts for which the disk returned an error. A later read of these parts may succeed.
    pub(crate) fn first_disk_error(&self) -> Option<Vec<u8>> {
        let parts = self.0.borrow();
        parts.iter().filter(|part| part.is_disk_error).map(|part| part.keys.start()).min().cloned()
    }
}

/// The way in which a cursor reads blocks.
#[derive(Clone)]
pub(in super::super) struct Reading {
    /// `true` if blocks are read through the cache.
    pub(in super::super) keep: bool,
    /// The list of skipped parts, or `None` if an unreadable part must end the scan.
    pub(in super::super) skipped: Option<Skipped>,
}

impl Reading {
    /// Records that the part from the key `first` to the key `last` cannot be read.
    ///
    /// # Errors
    /// `error` itself, if it does not report damage or if the scan may not skip anything.
    pub(super) fn skip(&self, first: Vec<u8>, last: Vec<u8>, error: Error) -> Result<()> {
        let Some(skipped) = self.skipped.as_ref().filter(|_| error.code() == ErrorCode::Corrupted) else {
            return Err(error);
        };
        tracing::warn!(target: "table_core::engine", %error, "a part of the base was skipped");
        let is_disk_error = error.source().is_some_and(<dyn StdError>::is::<io::Error>);
        skipped.0.borrow_mut().push(Part { keys: first..=last, is_disk_error });
        Ok(())
    }
}
