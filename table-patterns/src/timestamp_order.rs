//! Checks that the Timestamps of a store order its changes. Guarded steps without versions rely on this order.

use std::time::Duration;

use table_core::store::TableStore;
use table_core::{Error, Fault, Result};

/// The error for guarded steps without versions on a store whose Timestamps do not order changes.
#[derive(Debug, thiserror::Error, Fault)]
#[error(
    "guarded steps are ordered by the Timestamps of their changes, but this store gives them in steps of {step:?}; number the \
     changes with `Intent::version`, or remove the guards"
)]
#[fault(Unsupported, "ETAG-6")]
struct Unordered {
    step: Duration,
}

/// Returns `true` if a store's Timestamps are precise enough to determine which of two changes is later.
pub(crate) fn is_known<S: TableStore>(store: &S) -> bool {
    store.capabilities().timestamp_step <= 1
}

/// Checks that the store's Timestamps determine the order of changes, which guarded steps without versions require.
///
/// # Errors
/// `Unsupported` (ETAG-6) if the Timestamps of the store are too coarse.
pub(crate) fn require<S: TableStore>(store: &S) -> Result<()> {
    if is_known(store) {
        return Ok(());
    }
    let step = Duration::from_nanos(store.capabilities().timestamp_step.saturating_mul(100));
    Err(Error::of(Unordered { step }))
}
