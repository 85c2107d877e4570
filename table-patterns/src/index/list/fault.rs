//! The faults of lists: full ones, broken ones, and those in blobs that cannot be reached.

use table_core::error::{ErrorCode, Fault};
use table_core::key::EntityKey;
use table_core::name::TableName;

/// A list that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListFault {
    #[error(
        "the list of the index `{index}` is full: a list holds at most {most} keys, as it is declared; keep copies instead, which \
         have no bound, or make the value finer"
    )]
    Bound { index: &'static str, most: u32 },
    #[error(
        "the list of the index `{index}` is full: no entity holds {keys} keys (64 KiB a property, 1 MiB in all); give the table a \
         store of blobs, to which such lists move (`with_list_blobs`), keep copies instead, which have no bound, or make the value \
         finer"
    )]
    Full { index: &'static str, keys: usize },
    #[error(
        "a list of the index `{0}` is in a blob, and this table was given no store of blobs: `with_list_blobs`, in every program \
         that uses it"
    )]
    WithoutBlobs(&'static str),
    #[error("the stored property is not a list of the index `{0}`: rebuild the index, or read it as a bag")]
    Broken(&'static str),
    #[error(
        "the list of the index `{index}` cannot move to a blob: {stray} in it is not the key of an entity; check the index with \
         repair"
    )]
    Stray { index: &'static str, stray: String },
    #[cfg(feature = "blobs")]
    #[error("the table was given no store of blobs for its lists: `with_list_blobs`")]
    NoBlobs,
    #[cfg(feature = "blobs")]
    #[error("`{folder}` cannot be in the name of a blob")]
    Folder { folder: String, source: object_store::path::Error },
    #[cfg(feature = "blobs")]
    #[error(
        "writing the list to blob `{0}` took more than half of the grace period, and the blob could be taken for an orphan: set a \
         longer one"
    )]
    Slow(String),
    #[error("the list is written as `{found}`, and this program knows `{known}`: use a newer one")]
    TooNew { found: String, known: &'static str },
    #[error("the content of the list {0}: check the index with repair")]
    Content(Content),
}

/// What is wrong with the content of a list's blob.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Content {
    #[error("is not UTF-8")]
    Text,
    #[error("has no end")]
    End,
    #[error("does not begin as a list does")]
    Beginning,
    #[error("does not say whose it is")]
    Owner,
    #[error("is the one of {key} in {table}")]
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
