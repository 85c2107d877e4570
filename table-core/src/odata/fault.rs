//! Faults of OData JSON.

use crate::error::{ErrorCode, Fault};
use crate::value::EdmType;

/// A fault in reading an entity from JSON, or in writing one.
#[derive(Debug, thiserror::Error)]
pub(super) enum ODataFault {
    #[error("the body is not a JSON object: {0}")]
    Body(#[source] serde_json::Error),
    #[error("`{0}` is missing or null; every entity needs it")]
    NoKey(&'static str),
    #[error("a key must be an Edm.String, not an {0}")]
    KeyType(EdmType),
    #[error("`{0}` is not one of the eight Edm types")]
    UnknownType(String),
    #[error("a property value cannot be an array or an object")]
    Nested,
    #[error("the value is not of type {wanted}", wanted = .0.map_or("an Edm type", EdmType::name))]
    Value(Option<EdmType>),
    #[error("a stored entity cannot be written as JSON: {0}")]
    Write(String),
}

impl Fault for ODataFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Body(_) => (ErrorCode::InvalidInput, None),
            Self::NoKey(_) => (ErrorCode::PropertiesNeedValue, Some("KEY-1")),
            Self::KeyType(_) | Self::Value(_) => (ErrorCode::InvalidInput, Some("TYPE-8")),
            Self::UnknownType(_) => (ErrorCode::InvalidInput, Some("ENG-10")),
            Self::Nested => (ErrorCode::InvalidInput, Some("TYPE-9")),
            Self::Write(_) => (ErrorCode::Corrupted, None),
        }
    }
}
