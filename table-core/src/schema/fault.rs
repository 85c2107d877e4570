//! The faults of the text of a stored layout.

use crate::error::{ErrorCode, Fault};

/// A text that cannot be read as a layout.
#[derive(Debug, thiserror::Error)]
pub(super) enum SchemaFault {
    #[error("the layout is written in version {0}: use the program that wrote it")]
    TooNew(String),
    #[error(
        "the text is not a layout, its first line is not `schema 1`: restore it, or have it written anew"
    )]
    Start,
    #[error("the text is not a layout, because of the line `{0}`: restore it, or have it written anew")]
    Line(String),
    #[error("the text is not a layout, it names no entity or no table: restore it, or have it written anew")]
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
