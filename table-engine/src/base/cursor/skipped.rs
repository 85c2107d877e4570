//! Reads that continue after a part of the base that cannot be read.

use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::rc::Rc;

use table_store::{Error, ErrorCode, Result};

/// The key ranges of the unreadable parts that a scan has skipped. All cursors of the scan share one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skipped(Rc<RefCell<Vec<RangeInclusive<Vec<u8>>>>>);

impl Skipped {
    /// Returns `true` if the scan has skipped nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns `true` if one of the skipped parts may contain an entry with the given key.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        self.0.borrow().iter().any(|keys| keys.start().as_slice() <= key && key <= keys.end().as_slice())
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
        skipped.0.borrow_mut().push(first..=last);
        Ok(())
    }
}
