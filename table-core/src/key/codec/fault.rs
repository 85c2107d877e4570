//! The faults of codecs: a value that cannot be written, and a text that cannot be read.

use std::fmt::Display;

use crate::error::{Error, ErrorCode, Fault};

/// A value that cannot be written, or a text that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum CodecFault {
    /// The reason is stated in the file of the codec, so that a codec is one file.
    #[error("{0}")]
    Value(String),
    #[error("'{text}' is not a text that the codec `{codec}` writes: the entity was written under another design of keys", text = .text.escape_debug())]
    Text { text: String, codec: String },
    #[error("bucket {number} does not exist: buckets are 0 to {last}")]
    Bucket { number: u32, last: u32 },
    #[error("the key says '{text}', and the value's own text is '{expected}': write the entity again")]
    Stale { text: String, expected: String },
    #[error(
        "the key '{key}' does not fit its design: {found} and not {expected}; the entity is of another type or design: select \
         the keys of one type (`rows`), or read what is there as a set (`read_as`) or without a design (`untyped`)"
    )]
    Pieces { key: String, found: String, expected: String },
}

impl Fault for CodecFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Value(_) | Self::Bucket { .. } => (ErrorCode::KeyEncoding, None),
            Self::Text { .. } | Self::Stale { .. } | Self::Pieces { .. } => (ErrorCode::EntityMismatch, None),
        }
    }
}

/// The error for a value that the codec cannot write; the message says why, and what to do.
#[cold]
pub(super) fn refused(message: impl Into<String>) -> Error {
    Error::of(CodecFault::Value(message.into()))
}

/// The error for a text that the codec does not write.
#[cold]
pub(super) fn mismatch(text: &str, codec: impl Display) -> Error {
    Error::of(CodecFault::Text { text: text.to_owned(), codec: codec.to_string() })
}
