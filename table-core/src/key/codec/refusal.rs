//! The two errors of codecs: a value that has no text, and a text that has no value.

use std::fmt::Display;

use crate::error::{Error, ErrorCode};

/// What was wrong with a value, and what to do.
#[cold]
pub(super) fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::KeyEncoding, message)
}

/// The text of a part is not one that its codec writes.
#[cold]
pub(super) fn mismatch(text: &str, codec: impl Display) -> Error {
    let message = format!(
        "'{}' is not a text that the codec `{codec}` writes: the entity was written under another design of keys",
        text.escape_debug()
    );
    Error::new(ErrorCode::EntityMismatch, message)
}
