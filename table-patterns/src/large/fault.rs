//! The faults of large entities: contents and addresses that do not fit each other.

use table_core::error::{ErrorCode, Fault};

/// A write of a large entity that is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum LargeFault {
    #[error("one write has two contents for one blob")]
    TwoContents,
    #[error(
        "the upload took more than half of the grace period, and the blob could be taken for an orphan: set a longer one"
    )]
    Slow,
    #[error("there is no content to set: give at least one blob one")]
    NoContent,
    #[error(
        "the entity does not hold the address it was given: the functions of its `Blob` are not of one field"
    )]
    OtherAddress,
    #[error("the entity names the blob of another one, which may remove it: upload the content for this one")]
    OthersBlob,
    #[error(
        "the entity names a blob that may have been removed since: replace it under its ETag, or upload the content again, or set \
         the field to `None`"
    )]
    MayBeRemoved,
    #[error("`{folder}` cannot be in the name of a blob")]
    Folder { folder: String, source: object_store::path::Error },
}

impl Fault for LargeFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let rule = if matches!(self, Self::Folder { .. }) { None } else { Some("PAT-LARGE-2") };
        (ErrorCode::InvalidInput, rule)
    }
}
