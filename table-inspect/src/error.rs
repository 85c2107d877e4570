//! Errors: unsupported conditions on keys, writes that would make derived rows inconsistent, and errors from the store.

/// The error type of this package.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A condition that a key does not support, or a value that is invalid for a key part.
    #[error("{0}")]
    Condition(String),
    /// A plain write to a table whose schema declares derived rows, or a plain write that would make a wide entity or a sequence inconsistent.
    #[error("{0}")]
    Derived(String),
    /// An error from the store.
    #[error("{0}")]
    Store(#[from] table_core::Error),
}

/// A `Result` with this package's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
