//! The outcomes of attempts to process rows, and the operations that record them.

use table_core::Result;
use table_core::operation::Operation;

use crate::outbox::rows::{Note, Pending};

/// The outcome of an attempt to process a row.
pub(super) enum End {
    /// All steps were performed.
    Done,
    /// The row is set aside as poison.
    Poisoned,
    /// The row waits for another attempt.
    Failed {
        /// The error; `None` if the row was not tried and keeps its last error.
        error: Option<String>,
        /// The number of attempts that count towards poison.
        attempts: u32,
        /// The delay in ticks until the next attempt by this worker.
        delay: u64,
        /// `true` if another program may claim the row immediately.
        is_free: bool,
    },
}

impl End {
    /// Returns the operations that end the attempt at the given time.
    pub(super) fn operations(&self, pending: &Pending, now: u64) -> Result<Vec<Operation>> {
        Ok(match self {
            Self::Done => vec![pending.done()],
            Self::Poisoned => pending.aside()?.into(),
            Self::Failed { error, attempts, delay, is_free } => {
                let (until, wait) = if *is_free { (0, 0) } else { (now.saturating_add(*delay), *delay) };
                vec![pending.note(Note::Failed { error: error.as_deref(), attempts: *attempts, until, wait })]
            }
        })
    }

    /// Returns the delay after which this worker retries the row.
    pub(super) const fn again(&self) -> Option<u64> {
        match self {
            Self::Failed { delay, .. } => Some(*delay),
            Self::Done | Self::Poisoned => None,
        }
    }
}
