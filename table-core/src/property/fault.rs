//! Errors from reading and writing typed properties.

use chrono::{NaiveDate, NaiveTime};

use table_store::{EdmType, Fault, quoted};

use crate::schema::UNCLAIMED;

/// An error from writing a value to a property, or from reading it back.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum PropertyFault {
    #[error("the stored value is {found}, expected {wanted}; read the entity as a `TableEntity`, or change the type", found = .found.map_or("absent", EdmType::name))]
    #[fault(EntityMismatch)]
    Type { wanted: EdmType, found: Option<EdmType> },
    #[error("the stored number {number} does not fit `{wanted}`; use a wider type")]
    #[fault(EntityMismatch)]
    Number { number: String, wanted: &'static str },
    #[error("{0} is greater than 9223372036854775807, the largest Edm.Int64; store it as text, `String`")]
    #[fault(OutOfRangeInput, "TYPE-1")]
    Unsigned(u64),
    #[error("{0} is outside the years 0 to 9999; check the value")]
    #[fault(OutOfRangeInput, "TYPE-1")]
    Day(NaiveDate),
    #[error("the duration {0} has more than 9223372036854775807 nanoseconds, 292 years; check the value")]
    #[fault(OutOfRangeInput, "TYPE-1")]
    Duration(String),
    #[error("{0} is a leap second, which cannot be stored; check the value")]
    #[fault(OutOfRangeInput, "TYPE-1")]
    LeapSecond(NaiveTime),
    #[error(
        "the stored text '{text}' is not {wanted}; read the entity as a `TableEntity`, or change the type to `String`",
        text = quoted(.text)
    )]
    #[fault(EntityMismatch)]
    Text { text: String, wanted: &'static str },
    #[error("the stored tick {0} is after the year 9999")]
    #[fault(Corrupted)]
    Tick(u64),
    #[error("the value needs more than {0} chunks of 64 KiB; store it as a blob")]
    #[fault(PropertyValueTooLarge, "SIZE-1")]
    TooManyChunks(usize),
    #[error(
        "the value is not stored in full chunks: {0}; read the entity as a `TableEntity` and write it again"
    )]
    #[fault(EntityMismatch)]
    Chunks(String),
    #[error("the rest contains a property that a field has; remove it from the map, and set the field")]
    #[fault(DuplicatePropertiesSpecified, "PROP-6")]
    Rest,
    #[error(
        "the rest contains a name under which copies of the index `{0}` store a key field; declare that \
             field a property too, `#[property(also)]`, or rename it in copies, `#[property(\"Name\")]`"
    )]
    #[fault(DuplicatePropertiesSpecified, "PROP-6")]
    RestOfCopy(&'static str),
    #[error(
        "the rest contains `{UNCLAIMED}`, which marks copies of the index `{0}` that a repair is about to \
             delete; remove it from the map"
    )]
    #[fault(DuplicatePropertiesSpecified, "PROP-6")]
    RestOfMark(&'static str),
    #[error("the value cannot be stored as JSON")]
    #[fault(InvalidInput)]
    ToJson(#[source] serde_json::Error),
    #[error("the value would be read from its JSON as another value: {0}; check the value")]
    #[fault(OutOfRangeInput, "TYPE-1")]
    LossyJson(#[source] serde_json::Error),
    #[error("the stored JSON does not match the type")]
    #[fault(EntityMismatch)]
    FromJson(#[source] serde_json::Error),
    #[error("the stored value is absent")]
    #[fault(EntityMismatch)]
    NoJson(#[source] serde_json::Error),
}
