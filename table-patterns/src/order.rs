//! Order of changes by their Timestamps, checked before a pattern relies on it.

mod fault;

use table_core::error::{Error, Result};
use table_core::store::TableStore;

use fault::OrderFault;

/// What takes its order from Timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ordered {
    /// The entries of a change feed.
    Feed,
    /// A view, which follows feeds.
    View,
    /// The guarded steps of an intent that has no version of its own.
    GuardedStep,
}

/// Whether the Timestamps of a store tell which of two changes was later.
pub(crate) fn is_known<S: TableStore>(store: &S) -> bool {
    store.capabilities().timestamp_step <= 1
}

/// Refuses a pattern on a store whose Timestamps do not order changes.
///
/// # Errors
/// `Unsupported`, naming the pattern and why.
pub(crate) fn require<S: TableStore>(store: &S, pattern: Ordered) -> Result<()> {
    if is_known(store) {
        return Ok(());
    }
    let step = fault::Step::of(store.capabilities().timestamp_step);
    Err(Error::of(match pattern {
        Ordered::Feed => OrderFault::Feed(step),
        Ordered::View => OrderFault::View(step),
        Ordered::GuardedStep => OrderFault::GuardedStep(step),
    }))
}
