//! Errors in table and property names.

use crate::error::{Fault, quoted};

/// An error in a name.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum NameFault {
    #[error("table name `{}` is invalid; use ASCII letters and digits, starting with a letter", quoted(.0))]
    #[fault(InvalidResourceName, "TBL-4")]
    TableCharacters(String),
    #[error("table name `{}` has {length} characters, 3 to 63 are allowed", quoted(.0), length = .0.len())]
    #[fault(OutOfRangeInput, "TBL-4")]
    TableLength(String),
    #[error("table name `{0}` is reserved; choose another")]
    #[fault(InvalidInput, "TBL-3")]
    TableReserved(String),
    #[error("only the service can create metrics tables; they can be read")]
    #[fault(InvalidResourceName, "TBL-5")]
    Measurements,
    #[error(
        "property name `{}` is not an identifier; start with a letter or `_`, then use letters, digits and `_`",
        quoted(.0)
    )]
    #[fault(PropertyNameInvalid, "PROP-3")]
    PropertyCharacters(String),
    #[error("property name `{}` has {units} UTF-16 code units, at most 255 are allowed", quoted(name))]
    #[fault(PropertyNameTooLong, "PROP-2")]
    PropertyLength { name: String, units: usize },
    #[error("property name `{0}` is reserved for the key and the Timestamp; choose another")]
    #[fault(PropertyNameInvalid, "PROP-4")]
    PropertyReserved(String),
}
