//! Errors in the text of a stored schema.

use crate::error::{ErrorCode, Fault};

/// A string that cannot be parsed as a schema.
#[derive(Debug, thiserror::Error)]
pub(super) enum SchemaFault {
    #[error("the schema has format version {0}; use the program that wrote it")]
    TooNew(String),
    #[error("the text is not a schema, its first line is not `schema 1`; restore it, or generate it again")]
    Start,
    #[error("the text is not a schema, because of the line `{0}`; restore it, or generate it again")]
    Line(String),
    #[error("the text is not a schema, it names no entity or table; restore it, or generate it again")]
    Nameless,
}

impl Fault for SchemaFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::TooNew(_) => (ErrorCode::FormatTooNew, None),
            Self::Start | Self::Line(_) | Self::Nameless => (ErrorCode::Corrupted, None),
        }
    }
}
