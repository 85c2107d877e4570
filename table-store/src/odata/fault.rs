//! Errors in OData JSON.

use crate::error::{Fault, quoted};
use crate::value::EdmType;

/// An error from reading or writing an entity as JSON.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum ODataFault {
    #[error("the body is not a JSON object: {0}")]
    #[fault(InvalidInput)]
    Body(#[source] serde_json::Error),
    #[error("`{0}` is missing or null; every entity needs it")]
    #[fault(PropertiesNeedValue, "KEY-1")]
    NoKey(&'static str),
    #[error(
        "the key of the entity contains half a surrogate pair, shown as U+FFFD; only a client whose strings are UTF-16 can read or delete it"
    )]
    #[fault(OutOfRangeInput, "KEY-3")]
    HalfKey,
    #[error("a key must be an Edm.String, not an {0}")]
    #[fault(InvalidInput, "TYPE-8")]
    KeyType(EdmType),
    #[error("`{}` is not one of the eight Edm types", quoted(.0))]
    #[fault(InvalidInput, "ENG-10")]
    UnknownType(String),
    #[error("a property value cannot be an array or an object")]
    #[fault(InvalidInput, "TYPE-9")]
    Nested,
    #[error("the value is not of type {wanted}", wanted = .0.map_or("an Edm type", EdmType::name))]
    #[fault(InvalidInput, "TYPE-8")]
    Value(Option<EdmType>),
    #[error(
        "`null` is not an Edm.Double; write NaN and the infinities as the texts NaN, Infinity and -Infinity, and omit a property without a value"
    )]
    #[fault(InvalidInput, "ENT-3")]
    NullDouble,
    #[error("a stored entity cannot be written as JSON: {0}")]
    #[fault(Corrupted)]
    Write(String),
}
