//! Errors of keys.

use std::str::Utf8Error;

use crate::error::{ErrorCode, Fault};
use crate::limits::KEY_UNITS_WIDE;

/// An invalid key, or one damaged in storage.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyFault {
    #[error(
        "the {kind} '{text}' contains {illegal}, which keys cannot contain; encode the value, for example with `escaped(…)`",
        text = .text.escape_debug(), illegal = .illegal.escape_unicode()
    )]
    Illegal { kind: &'static str, text: String, illegal: char },
    #[error("the {kind} has {units} UTF-16 code units; no store accepts more than {KEY_UNITS_WIDE}")]
    TooLong { kind: &'static str, units: usize },
    #[error("a RowKey that starts with U+FFFC is reserved for patterns, such as an outbox; choose another")]
    Reserved,
    #[error("the stored key is not a valid text in the engine's key order")]
    Order(#[source] Option<Utf8Error>),
}

impl Fault for KeyFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Illegal { .. } => (ErrorCode::OutOfRangeInput, Some("KEY-3")),
            Self::TooLong { .. } => (ErrorCode::PropertyValueTooLarge, Some("KEY-8")),
            Self::Reserved => (ErrorCode::OutOfRangeInput, Some("PAT-EC-8")),
            Self::Order(_) => (ErrorCode::Corrupted, None),
        }
    }
}
