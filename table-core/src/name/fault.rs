//! Errors of table and property names.

use crate::error::{ErrorCode, Fault};

/// An invalid name.
#[derive(Debug, thiserror::Error)]
pub(super) enum NameFault {
    #[error("table name `{0}` is invalid; use ASCII letters and digits, starting with a letter")]
    TableCharacters(String),
    #[error("table name `{0}` has {length} characters, 3 to 63 are allowed", length = .0.len())]
    TableLength(String),
    #[error("table name `{0}` is reserved; choose another")]
    TableReserved(String),
    #[error("only the service can create metrics tables; they can be read")]
    Measurements,
    #[error(
        "property name `{0}` is not an identifier; start with a letter or `_`, then use letters, digits and `_`"
    )]
    PropertyCharacters(String),
    #[error("property name `{name}` has {units} UTF-16 code units, at most 255 are allowed")]
    PropertyLength { name: String, units: usize },
    #[error("property name `{0}` is reserved for the key and the Timestamp; choose another")]
    PropertyReserved(String),
}

impl Fault for NameFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let (code, rule) = match self {
            Self::TableCharacters(_) => (ErrorCode::InvalidResourceName, "TBL-4"),
            Self::TableLength(_) => (ErrorCode::OutOfRangeInput, "TBL-4"),
            Self::TableReserved(_) => (ErrorCode::InvalidInput, "TBL-3"),
            Self::Measurements => (ErrorCode::InvalidResourceName, "TBL-5"),
            Self::PropertyCharacters(_) => (ErrorCode::PropertyNameInvalid, "PROP-3"),
            Self::PropertyLength { .. } => (ErrorCode::PropertyNameTooLong, "PROP-2"),
            Self::PropertyReserved(_) => (ErrorCode::PropertyNameInvalid, "PROP-4"),
        };
        (code, Some(rule))
    }
}
