//! Errors of codecs, for values that cannot be encoded and strings that cannot be decoded.

use std::fmt::Display;

use table_store::{Error, Fault, quoted};

/// The cause of an encoding or decoding error.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum CodecFault {
    /// The value cannot be encoded. Each codec defines its own message.
    #[error("{0}")]
    #[fault(KeyEncoding)]
    Value(String),
    #[error("'{text}' is not a text of the codec `{codec}`; the entity was written with another key schema", text = quoted(.text).escaped())]
    #[fault(EntityMismatch)]
    Text { text: String, codec: String },
    #[error("bucket {number} does not exist; buckets are 0 to {last}")]
    #[fault(KeyEncoding)]
    Bucket { number: u32, last: u32 },
    #[error(
        "the key contains '{text}', but the text of the property is '{expected}'; write the entity again",
        text = quoted(.text), expected = quoted(.expected)
    )]
    #[fault(EntityMismatch)]
    Stale { text: String, expected: String },
    #[error(
        "the key '{key}' does not match its schema: found {found}, expected {expected}; the entity has another type or schema; select \
         the keys of one type (`rows`), or read the rows as a set (`read_as`) or untyped (`untyped`)",
        key = quoted(.key), found = quoted(.found), expected = quoted(.expected)
    )]
    #[fault(EntityMismatch)]
    Pieces { key: String, found: String, expected: String },
}

/// Returns the error for a value that the codec cannot encode. The message states the reason, and how to avoid the error.
#[cold]
pub(super) fn refused(message: impl Into<String>) -> Error {
    Error::of(CodecFault::Value(message.into()))
}

/// Returns the error for a string not produced by the codec.
#[cold]
pub(super) fn mismatch(text: &str, codec: impl Display) -> Error {
    Error::of(CodecFault::Text { text: text.to_owned(), codec: codec.to_string() })
}
