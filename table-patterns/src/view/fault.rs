//! View errors: refused projections, sums that overflow, and unreadable records.

use table_core::{Error, Fault};

/// The reason a view cannot be written or read.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum ViewFault {
    #[error("one entity adds more to the sum than an Int64 can hold; add a smaller number")]
    #[fault(OutOfRangeInput)]
    EntitySum,
    #[error("the sum does not fit into an Int64 and nothing was added; add a smaller number")]
    #[fault(OutOfRangeInput)]
    Sum,
    #[error("the sum of the records of the view does not fit into an Int64; add smaller numbers")]
    #[fault(OutOfRangeInput)]
    RecordedSum,
    #[error("the projection of one entity contains the row twice; put it once, or add to it")]
    #[fault(InvalidInput, "IMP-6")]
    Twice,
    #[error("the projection of the entity failed; correct the entity or the projection")]
    #[fault(InvalidInput, "IMP-6")]
    Projection(#[source] Error),
    #[error("the RowKey of an entity with a view has at most {0} UTF-16 code units; shorten it")]
    #[fault(PropertyValueTooLarge, "KEY-8")]
    Key(usize),
    #[error("failed to serialise a record of the view as JSON")]
    #[fault(InternalError)]
    Unwritable(#[source] serde_json::Error),
    #[error("the row is not a record of a view")]
    #[fault(Corrupted)]
    Record(#[source] Option<serde_json::Error>),
    #[error("the view is still building and its rows are incomplete; run `rebuild` until it completes")]
    #[fault(IndexNotReady, "IMP-6")]
    Building,
    #[error(
        "the feed of `{0}` is announced, and older programs may write entities without entries; replace these programs, and run `backfill_feed` \
         until it returns no time"
    )]
    #[fault(IndexNotReady, "IMP-6")]
    AnnouncedFeed(&'static str),
    #[error(
        "the rows of the table belong to the view `{owner}`, not to `{name}`; give each view a row type with a table, or return the old name from `View::name`"
    )]
    #[fault(SchemaMismatch, "IMP-6")]
    OtherOwner { owner: String, name: &'static str },
    #[error(
        "version {latest} of the view is ready, and this program follows version {version}; start the newer program"
    )]
    #[fault(SchemaMismatch, "IMP-6")]
    Superseded { version: u32, latest: u32 },
    #[error(
        "{found} entities of the partition are set aside, but the limit is {most}; correct them and call `retry_poison`, or raise the limit"
    )]
    #[fault(InvalidInput, "IMP-6")]
    Poison { found: usize, most: usize },
    #[error(
        "the view has missed changes of the partition, because they were trimmed or the table was deleted and created again; run `rebuild`"
    )]
    #[fault(IndexNotReady, "IMP-6")]
    Gap,
    #[error("the position belongs to a view that was deleted; start the rebuild again without a position")]
    #[fault(SchemaMismatch, "IMP-6")]
    OtherView,
}
