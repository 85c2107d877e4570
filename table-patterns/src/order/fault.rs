//! The faults of patterns on stores whose Timestamps do not order changes.

use std::fmt;
use std::time::Duration;

use table_core::error::{ErrorCode, Fault};

/// A pattern that a store's Timestamps give no order.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OrderFault {
    #[error(
        "a change feed is in the order of Timestamps, and this store gives them in steps of {0}: changes within one have no order, and \
         readers would miss some; record what is to follow a change as an intent of an outbox"
    )]
    Feed(Step),
    #[error(
        "a view follows a change feed, which is in the order of Timestamps, and this store gives them in steps of {0}: keep the view in \
         the transaction of the change, or settle it by an outbox"
    )]
    View(Step),
    #[error(
        "guarded steps are ordered by the Timestamps of their changes, and this store gives them in steps of {0}: the later of two changes \
         could be passed over; number the changes with `Intent::version`, or take the guards off"
    )]
    GuardedStep(Step),
}

impl Fault for OrderFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Feed(_) | Self::View(_) | Self::GuardedStep(_) => (ErrorCode::Unsupported, Some("ETAG-6")),
        }
    }
}

/// The difference of two Timestamps that a store can tell apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step(Duration);

impl Step {
    pub(super) const fn of(ticks: u64) -> Self {
        Self(Duration::from_nanos(ticks.saturating_mul(100)))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
