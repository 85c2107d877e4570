//! The faults of wide entities: properties in no part, and parts that do not belong together.

use table_core::error::{ErrorCode, Fault};

/// A wide entity that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum WideFault {
    #[error("a merge cannot remove a property: use `update`, which replaces the whole")]
    Removed,
    #[error("the patch sets nothing: set a property, or do not send it")]
    EmptyPatch,
    #[error("there are {values} values for {slots} slots: give each slot one, `None` if it is empty")]
    Slots { values: usize, slots: usize },
    #[error("a wide entity has 1 to {most} parts, and not {parts}")]
    Parts { parts: usize, most: usize },
    #[error("the wide entity to resize is not there")]
    NothingToResize,
    #[error("the wide entity to update is not there")]
    NothingToUpdate,
    #[error("the property is written twice: write each once")]
    Twice,
    #[error("`{0}` is in no part of the wide entity: add it to `PARTS`")]
    UnknownProperty(String),
    #[error(
        "part {part:02} of the wide entity is there, and its declaration has {parts}: it was written by another one; declare as \
         many parts as are stored, or bring it to these by `WideTable::resize`"
    )]
    Surplus { part: usize, parts: usize },
    #[error(
        "part {0:02} of the wide entity is missing: if it was deleted by itself, write the whole again; if the declaration had fewer \
         parts then, bring the entity to these by `WideTable::resize`"
    )]
    Missing(usize),
    #[error(
        "part {0:02} of the wide entity has no `WriteId`: it was not written as a part; write the whole again"
    )]
    NoWriteId(usize),
    #[error(
        "part {0:02} of the wide entity is of another write than the first: it was replaced by itself; write the whole again"
    )]
    OtherWrite(usize),
    #[error("the change altered the key: insert under the new key, delete the old")]
    KeyChanged,
    #[error("the store acknowledged the write without the ETags it must give: read the whole")]
    NoETags,
    #[error("the version is of a wide entity with other parts: read the entity again")]
    OtherParts,
}

impl Fault for WideFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Removed => (ErrorCode::InvalidInput, Some("MRG-3")),
            Self::EmptyPatch | Self::Twice => (ErrorCode::InvalidInput, None),
            Self::Slots { .. } | Self::Parts { .. } | Self::UnknownProperty(_) => {
                (ErrorCode::InvalidInput, Some("PAT-WIDE-1"))
            }
            Self::NothingToResize | Self::NothingToUpdate => (ErrorCode::ResourceNotFound, Some("UPD-2")),
            Self::Surplus { .. } | Self::Missing(_) | Self::NoWriteId(_) | Self::OtherWrite(_) => {
                (ErrorCode::EntityMismatch, Some("PAT-WIDE-4"))
            }
            Self::KeyChanged => (ErrorCode::InvalidInput, Some("UPD-6")),
            Self::NoETags => (ErrorCode::InternalError, Some("ETAG-3")),
            Self::OtherParts => (ErrorCode::InvalidInput, Some("PAT-WIDE-2")),
        }
    }
}
