//! Errors of wide entities: undeclared properties, and inconsistent parts.

use table_core::error::{ErrorCode, Fault};

/// A wide entity that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum WideFault {
    #[error("a merge cannot remove a property; use `update`, which replaces the whole entity")]
    Removed,
    #[error("the patch is empty; set at least one property")]
    EmptyPatch,
    #[error("found {values} values for {slots} slots; give each slot one value, `None` if it is empty")]
    Slots { values: usize, slots: usize },
    #[error("a wide entity cannot have {parts} parts; use 1 to {most}")]
    Parts { parts: usize, most: usize },
    #[error("the wide entity to resize does not exist")]
    NothingToResize,
    #[error("the wide entity to update does not exist")]
    NothingToUpdate,
    #[error("the property is written twice; write it once")]
    Twice,
    #[error("`{0}` is not in any part of the wide entity; add it to `PARTS`")]
    UnknownProperty(String),
    #[error(
        "part {part:02} of the wide entity is stored, but only {parts} parts are declared; declare as \
         many parts as are stored, or convert the entity by `WideTable::resize`"
    )]
    Surplus { part: usize, parts: usize },
    #[error(
        "part {0:02} of the wide entity is missing; if it was deleted, write the whole entity again; if the declaration had fewer \
         parts when the entity was written, convert it by `WideTable::resize`"
    )]
    Missing(usize),
    #[error(
        "part {0:02} of the wide entity has no `WriteId` and was not written by `WideTable`; write the whole entity again"
    )]
    NoWriteId(usize),
    #[error(
        "part {0:02} of the wide entity has a different `WriteId` than the first part; write the whole entity again"
    )]
    OtherWrite(usize),
    #[error("an entity's key cannot change; insert it under the new key and delete the old one")]
    KeyChanged,
    #[error("the store acknowledged the write without returning ETags; read the entity to get its version")]
    NoETags,
    #[error("the version belongs to a wide entity with a different number of parts; read the entity again")]
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
