//! The faults of encoded rows.

use crate::error::{ErrorCode, Fault};
use crate::row::VERSION;

/// A row that cannot be written, or bytes that cannot be read as one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RowFault {
    #[error("property `{0}` is specified more than once")]
    Duplicate(String),
    #[error("the entity is beyond what a row can hold: 65,535 properties")]
    TooMany,
    #[error("the entity is beyond what a row can hold: names of 16 MiB together")]
    NamesTooLong,
    #[error("the entity is beyond what a row can hold: 4 GiB")]
    TooLarge,
    #[error("encoded row of format {0}; this version reads up to format {VERSION}: upgrade")]
    TooNew(u8),
    #[error("encoded row: broken {0}")]
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
