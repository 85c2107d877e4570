//! Errors of lists: full and invalid lists, and blobs that cannot be read.

use table_core::error::{ErrorCode, Fault};
use table_core::key::EntityKey;
use table_core::name::TableName;

/// A list that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListFault {
    #[error(
        "the list of index `{index}` is full: its declaration allows {most} keys; use an index of copies instead, which \
         has no limit, or index a more specific value"
    )]
    Bound { index: &'static str, most: u32 },
    #[error(
        "the list of index `{index}` is full: an entity cannot hold {keys} keys (64 KiB per property, 1 MiB in total); configure a \
         blob store for such lists (`with_list_blobs`), use an index of copies instead, which has no limit, or index a more \
         specific value"
    )]
    Full { index: &'static str, keys: usize },
    #[error(
        "a list of index `{0}` is stored in a blob, but this table has no blob store; call `with_list_blobs` in every program \
         that uses the table"
    )]
    WithoutBlobs(&'static str),
    #[error("the stored property is not a list of index `{0}`; rebuild the index, or read the row as a bag")]
    Broken(&'static str),
    #[error(
        "the list of index `{index}` cannot move to a blob, because its member {stray} is not the key of an entity; check the index with \
         repair"
    )]
    Stray { index: &'static str, stray: String },
    #[cfg(feature = "blobs")]
    #[error("the table has no blob store for lists; call `with_list_blobs`")]
    NoBlobs,
    #[cfg(feature = "blobs")]
    #[error("`{folder}` is not a valid part of a blob name")]
    Folder { folder: String, source: object_store::path::Error },
    #[cfg(feature = "blobs")]
    #[error(
        "writing the list to blob `{0}` took more than half of the grace period, and the collector could remove the blob; set a \
         longer grace period"
    )]
    Slow(String),
    #[error("the list has the format `{found}`, but this program supports `{known}`; use a newer program")]
    TooNew { found: String, known: &'static str },
    #[error("the content of the list {0}; check the index with repair")]
    Content(Content),
}

/// The defect in the content of a list's blob.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Content {
    #[error("is not UTF-8")]
    Text,
    #[error("has no end")]
    End,
    #[error("does not begin with the header of a list")]
    Beginning,
    #[error("does not name its entity")]
    Owner,
    #[error("belongs to {key} in {table}")]
    OtherList { table: TableName, key: EntityKey },
    #[error("has a line that is not a key")]
    Line,
    #[error("has keys out of order")]
    Order,
}

impl Fault for ListFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Bound { .. } | Self::Full { .. } => (ErrorCode::IndexListFull, Some("PAT-IX-4")),
            Self::WithoutBlobs(_) => (ErrorCode::InvalidInput, Some("PAT-IX-4")),
            Self::Broken(_) => (ErrorCode::EntityMismatch, None),
            Self::Stray { .. } => (ErrorCode::EntityMismatch, Some("PAT-IX-4")),
            #[cfg(feature = "blobs")]
            Self::NoBlobs | Self::Folder { .. } => (ErrorCode::InvalidInput, None),
            #[cfg(feature = "blobs")]
            Self::Slow(_) => (ErrorCode::InvalidInput, Some("PAT-LARGE-2")),
            Self::TooNew { .. } => (ErrorCode::FormatTooNew, None),
            Self::Content(_) => (ErrorCode::Corrupted, None),
        }
    }
}
