//! The outcomes of attempts to process rows, and the operations that record them.

use table_core::Result;
use table_core::operation::Operation;

use crate::outbox::notes::Note;
use crate::outbox::rows::Pending;

/// The outcome of an attempt to process an outbox row.
pub(super) enum End {
    /// All steps in the row have been performed.
    Done,
    /// The row has been moved to the poison queue.
    Poisoned,
    /// The attempt failed, and the row waits for another attempt.
    Failed {
        /// The error of the attempt. `None` if no step was tried; the row then keeps its last error.
        error: Option<String>,
        /// The number of the row's attempts that have ended with a permanent error.
        failures: u32,
        /// The delay, in ticks, until the next attempt.
        delay: u64,
    },
}

impl End {
    /// Returns the operations that record this outcome in the row. `now` is the queue's time in ticks.
    pub(super) fn operations(&self, pending: &Pending, now: u64) -> Result<Vec<Operation>> {
        Ok(match self {
            Self::Done => vec![pending.done()],
            Self::Poisoned => pending.aside()?.into(),
            Self::Failed { error, failures, delay } => {
                let (until, wait) = (now.saturating_add(*delay), *delay);
                vec![pending.note(Note::Failed {
                    error: error.as_deref(),
                    failures: *failures,
                    until,
                    wait,
                })?]
            }
        })
    }

    /// Returns the delay until the row is retried, or `None` if the row needs no further attempt.
    pub(super) const fn again(&self) -> Option<u64> {
        match self {
            Self::Failed { delay, .. } => Some(*delay),
            Self::Done | Self::Poisoned => None,
        }
    }
}
