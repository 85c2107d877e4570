//! Large entity errors: content given twice, and invalid blob addresses.

use table_core::Fault;

/// An error from writing a large entity.
#[derive(Debug, thiserror::Error, Fault)]
#[fault(InvalidInput, "PAT-LARGE-2")]
pub(super) enum LargeFault {
    #[error("the write passes content for the same blob twice; pass it once")]
    TwoContents,
    #[error("`set` needs content for at least one blob")]
    NoContent,
    #[error(
        "the entity does not return the address that was set; `get` and `set` of the `Blob` must use the same field"
    )]
    OtherAddress,
    #[error(
        "the entity names a blob of another entity, which may remove it; upload the content for this entity"
    )]
    OthersBlob,
    #[error(
        "the stored entity names a blob of another entity, so the blob is not opened; remove the address, or upload the content for this entity"
    )]
    #[fault(EntityMismatch, "PAT-LARGE-2")]
    ReadsOthersBlob,
    #[error(
        "the entity names a blob that may have been removed; read the entity again and replace it under its ETag, upload the content again, or set \
         the field to `None`"
    )]
    MayBeRemoved,
}
