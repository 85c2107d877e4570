//! Key errors.

use std::str::Utf8Error;

use crate::error::{Fault, quoted};
use crate::limits::KEY_UNITS_WIDE;

/// An error for an invalid or corrupted key.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum KeyFault {
    #[error(
        "the {kind} '{text}' contains {illegal:?}, which keys cannot contain; encode the value, for example with `escaped(…)`",
        text = quoted(.text).escaped()
    )]
    #[fault(OutOfRangeInput, "KEY-3")]
    Illegal { kind: &'static str, text: String, illegal: char },
    #[error("the {kind} has {units} UTF-16 code units; no store accepts more than {KEY_UNITS_WIDE}")]
    #[fault(PropertyValueTooLarge, "KEY-8")]
    TooLong { kind: &'static str, units: usize },
    #[error("a RowKey that starts with U+FFFC is reserved for patterns, such as an outbox; choose another")]
    #[fault(OutOfRangeInput, "PAT-EC-8")]
    Reserved,
    #[error("the stored key is not a valid text in the engine's key order")]
    #[fault(Corrupted)]
    Order(#[source] Option<Utf8Error>),
}
