//! List errors: full or invalid lists, and unreadable list blobs.

use table_core::Fault;
use table_core::key::EntityKey;
use table_core::name::TableName;

/// An error from writing or reading a list.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum ListFault {
    #[error(
        "the list of index `{index}` is full: its declaration allows {most} keys; use an index of copies instead, which \
         has no limit, or index a more specific value"
    )]
    #[fault(IndexListFull, "PAT-IX-4")]
    Bound { index: &'static str, most: u32 },
    #[error(
        "the list of index `{index}` is full: an entity cannot hold {keys} keys (64 KiB per property, 1 MiB in total); configure a \
         blob store for such lists (`with_list_blobs`), use an index of copies instead, which has no limit, or index a more \
         specific value"
    )]
    #[fault(IndexListFull, "PAT-IX-4")]
    Full { index: &'static str, keys: usize },
    #[error(
        "a list of index `{0}` is stored in a blob, but this table has no blob store; call `with_list_blobs` in every program \
         that uses the table"
    )]
    #[fault(InvalidInput, "PAT-IX-4")]
    WithoutBlobs(&'static str),
    #[error("the stored property is not a list of index `{0}`; rebuild the index, or read the row as a bag")]
    #[fault(EntityMismatch)]
    Broken(&'static str),
    #[error(
        "the list of index `{index}` cannot be stored as keys, because its member {stray} is not the key of an entity; check the index with \
         repair"
    )]
    #[fault(EntityMismatch, "PAT-IX-4")]
    Stray { index: &'static str, stray: String },
    #[cfg(feature = "blobs")]
    #[error("the table has no blob store for lists; call `with_list_blobs`")]
    #[fault(InvalidInput)]
    NoBlobs,
    #[cfg(feature = "blobs")]
    #[error("the list names blob `{0}`, which was not uploaded for this list; check the index with repair")]
    #[fault(EntityMismatch, "PAT-LARGE-2")]
    OthersBlob(String),
    #[error("the list has the format `{found}`, but this program supports `{known}`; use a newer program")]
    #[fault(FormatTooNew)]
    TooNew { found: String, known: &'static str },
    #[error("the content of the list {0}; check the index with repair")]
    #[fault(Corrupted)]
    Content(Content),
}

/// A defect in the content of a list's blob.
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
