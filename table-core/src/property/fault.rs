//! Errors of typed properties.

use chrono::{NaiveDate, NaiveTime};

use crate::error::{ErrorCode, Fault};
use crate::value::EdmType;

/// A value that cannot be stored in a property or read from it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PropertyFault {
    #[error("the stored value is {found}, expected {wanted}; read the entity as a `TableEntity`, or change the type", found = .found.map_or("absent", EdmType::name))]
    Type { wanted: EdmType, found: Option<EdmType> },
    #[error("the stored number {number} does not fit `{wanted}`; use a wider type")]
    Number { number: String, wanted: &'static str },
    #[error("{0} is greater than 9223372036854775807, the largest Edm.Int64; store it as text, `String`")]
    Unsigned(u64),
    #[error("{0} is outside the years 0 to 9999; check the value")]
    Day(NaiveDate),
    #[error("{0} is a leap second, which cannot be stored; check the value")]
    LeapSecond(NaiveTime),
    #[error(
        "the stored text '{text}' is not {wanted}; read the entity as a `TableEntity`, or change the type to `String`"
    )]
    Text { text: String, wanted: &'static str },
    #[error("the stored tick {0} is after the year 9999")]
    Tick(u64),
    #[error("the value needs more than {0} chunks of 64 KiB; store it as a blob")]
    TooManyChunks(usize),
    #[error(
        "the value is not stored in full chunks: {0}; read the entity as a `TableEntity` and write it again"
    )]
    Chunks(String),
    #[error("the rest contains a property that a field has; remove it from the map, and set the field")]
    Rest,
    #[error(
        "the rest contains a name under which copies of the index `{0}` store a key field; declare that \
             field a property too, `#[property(also)]`, or rename it in copies, `#[property(\"Name\")]`"
    )]
    RestOfCopy(&'static str),
    #[error("the value cannot be stored as JSON")]
    ToJson(#[source] serde_json::Error),
    #[error("the stored JSON does not match the type")]
    FromJson(#[source] serde_json::Error),
    #[error("the stored value is absent")]
    NoJson(#[source] serde_json::Error),
}

impl Fault for PropertyFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Type { .. }
            | Self::Number { .. }
            | Self::Text { .. }
            | Self::Chunks(_)
            | Self::FromJson(_)
            | Self::NoJson(_) => (ErrorCode::EntityMismatch, None),
            Self::Unsigned(_) | Self::Day(_) | Self::LeapSecond(_) => {
                (ErrorCode::OutOfRangeInput, Some("TYPE-1"))
            }
            Self::Tick(_) => (ErrorCode::Corrupted, None),
            Self::TooManyChunks(_) => (ErrorCode::PropertyValueTooLarge, Some("SIZE-1")),
            Self::Rest | Self::RestOfCopy(_) => (ErrorCode::DuplicatePropertiesSpecified, Some("PROP-6")),
            Self::ToJson(_) => (ErrorCode::InvalidInput, None),
        }
    }
}
