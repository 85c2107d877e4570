//! Errors of encoded rows.

use crate::error::{ErrorCode, Fault};
use crate::row::VERSION;

/// A row that cannot be written, or invalid bytes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RowFault {
    #[error("property `{0}` is specified more than once; remove one of them")]
    Duplicate(String),
    #[error("the entity has more than 65,535 properties, the limit of a row")]
    TooMany,
    #[error("the entity has more than 16 MiB of property names, the limit of a row")]
    NamesTooLong,
    #[error("the entity has more than 4 GiB, the limit of a row")]
    TooLarge,
    #[error("encoded row of format {0}; this version reads up to format {VERSION}; upgrade")]
    TooNew(u8),
    #[error("corrupt encoded row: invalid {0}")]
    Broken(&'static str),
}

impl Fault for RowFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Duplicate(_) => (ErrorCode::DuplicatePropertiesSpecified, Some("PROP-6")),
            Self::TooMany => (ErrorCode::TooManyProperties, Some("ENT-2")),
            Self::NamesTooLong => (ErrorCode::PropertyNameTooLong, Some("PROP-2")),
            Self::TooLarge => (ErrorCode::EntityTooLarge, Some("SIZE-1")),
            Self::TooNew(_) => (ErrorCode::FormatTooNew, None),
            Self::Broken(_) => (ErrorCode::Corrupted, None),
        }
    }
}
