//! Errors of views: refused projections, overflowing sums, and unreadable records.

use table_core::error::{ErrorCode, Fault};

/// A view that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ViewFault {
    #[error("one entity adds more to the sum than an Int64 can hold; add a smaller number")]
    EntitySum,
    #[error("the sum does not fit into an Int64 and nothing was added; add a smaller number")]
    Sum,
    #[error("the sum of the records of the view does not fit into an Int64; add smaller numbers")]
    RecordedSum,
    #[error("the projection of one entity contains the row twice; put it once, or add to it")]
    Twice,
    #[error("the RowKey of an entity with a view has at most {0} UTF-16 code units; shorten it")]
    Key(usize),
    #[error("failed to serialise a record of the view as JSON")]
    Unwritable(#[source] serde_json::Error),
    #[error("the row is not a record of a view")]
    Record(#[source] Option<serde_json::Error>),
    #[error("the view is still building and its rows are incomplete; run `rebuild` until it completes")]
    Building,
    #[error(
        "the rows of the table belong to the view `{owner}`, not to `{name}`; give each view a row type with a table, or return the old name from `View::name`"
    )]
    OtherOwner { owner: String, name: &'static str },
    #[error(
        "version {latest} of the view is ready, and this program follows version {version}; start the newer program"
    )]
    Superseded { version: u32, latest: u32 },
    #[error(
        "{found} entities are set aside, but the limit is {most}; correct them and call `retry_poison`, or raise the limit"
    )]
    Poison { found: usize, most: usize },
    #[error("the position belongs to a view that was deleted; start the rebuild again without a position")]
    OtherView,
}

impl Fault for ViewFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::EntitySum | Self::Sum | Self::RecordedSum => (ErrorCode::OutOfRangeInput, None),
            Self::Key(_) => (ErrorCode::PropertyValueTooLarge, Some("KEY-8")),
            Self::Unwritable(_) => (ErrorCode::InternalError, None),
            Self::Record(_) => (ErrorCode::Corrupted, None),
            Self::Twice | Self::Poison { .. } => (ErrorCode::InvalidInput, Some("IMP-6")),
            Self::OtherOwner { .. } | Self::Superseded { .. } | Self::OtherView => {
                (ErrorCode::LayoutMismatch, Some("IMP-6"))
            }
            Self::Building => (ErrorCode::IndexNotReady, Some("IMP-6")),
        }
    }
}
