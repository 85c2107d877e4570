//! Faults of mappings.

use table_core::EdmType;
use table_core::error::{ErrorCode, Fault};

/// A fault of a mapping.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MappingFault {
    #[error("a mapping has 1 to 3 levels, not {0}")]
    Levels(usize),
    #[error("`{0}` is not a path of an item; write it as `/member` or `/object/member`")]
    Path(String),
    #[error("the path `{0}` is a member of the service or of this library; choose another path")]
    Reserved(String),
    #[error("the paths `{0}` and `{1}` are one member, or one contains the other")]
    Overlap(String, String),
    #[error("`{0}` is not the name of a property")]
    Name(String),
    #[error("property `{0}` is mapped twice")]
    Twice(String),
    #[error("`/ttl` is the time to live of an item; map it by `Mapping::time_to_live`")]
    TimeToLive,
    #[error("the mapping has {found} levels, but the entity has {expected}")]
    EntityLevels { found: usize, expected: usize },
    #[error("the entity has no property `{0}`; correct the name in the mapping")]
    NoProperty(String),
    #[error("property `{name}` of the entity is {expected}, but the mapping makes it {found}")]
    Type { name: String, found: EdmType, expected: EdmType },
    #[error(
        "property `{0}` has a type or a value that its format in the mapping cannot represent; change the value or the format"
    )]
    Value(String),
}

impl Fault for MappingFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        (ErrorCode::InvalidInput, Some("WIRE-6"))
    }
}
