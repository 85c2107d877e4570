//! Errors in mappings.

use table_core::{EdmType, Fault};

/// An error in a mapping.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
pub(crate) enum MappingFault {
    #[error("a mapping has 1 to 3 levels, not {0}")]
    #[fault(InvalidInput, "HPK-42")]
    Levels(usize),
    #[error("`{0}` is not a path of an item; write it as `/member` or `/object/member`")]
    #[fault(InvalidInput, "WIRE-6")]
    Path(String),
    #[error("the path `{0}` is a member of the service or of this library; choose another path")]
    #[fault(InvalidInput, "WIRE-6")]
    Reserved(String),
    #[error("the paths `{0}` and `{1}` are one member, or one contains the other")]
    #[fault(InvalidInput, "WIRE-6")]
    Overlap(String, String),
    #[error("`{0}` is not the name of a property")]
    #[fault(InvalidInput, "WIRE-6")]
    Name(String),
    #[error("property `{0}` is mapped twice")]
    #[fault(InvalidInput, "WIRE-6")]
    Twice(String),
    #[error("`/ttl` is the time to live of an item; map it by `Mapping::time_to_live`")]
    #[fault(InvalidInput, "WIRE-6")]
    TimeToLive,
    #[error("the mapping has {found} levels, but the entity has {expected}")]
    #[fault(InvalidInput, "HPK-42")]
    EntityLevels { found: usize, expected: usize },
    #[error("the entity has no property `{0}`; correct the name in the mapping")]
    #[fault(InvalidInput, "WIRE-6")]
    NoProperty(String),
    #[error("property `{name}` of the entity is {expected}, but the mapping makes it {found}")]
    #[fault(InvalidInput, "WIRE-6")]
    Type { name: String, found: EdmType, expected: EdmType },
    #[error(
        "property `{0}` has a type or a value that its format in the mapping cannot represent; change the value or the format"
    )]
    #[fault(InvalidInput, "WIRE-6")]
    Value(String),
}
