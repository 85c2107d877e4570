//! Checks that a store's Timestamps determine the order of its changes. Guarded steps without versions require this.

use std::time::Duration;

use table_core::store::TableStore;
use table_core::{Error, Fault, Result};

/// The error for a guarded step without a version, if the store's Timestamps do not determine the order of changes.
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

/// Checks that the store's Timestamps determine the order of changes. Guarded steps without versions require this.
///
/// # Errors
/// `Unsupported` (ETAG-6) if the store's Timestamps are too coarse.
pub(crate) fn require<S: TableStore>(store: &S) -> Result<()> {
    if is_known(store) {
        return Ok(());
    }
    let step = Duration::from_nanos(store.capabilities().timestamp_step.saturating_mul(100));
    Err(Error::of(Unordered { step }))
}
