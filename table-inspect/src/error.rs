//! Errors: unsupported conditions on keys, writes that would make derived rows inconsistent, and errors from the store.

/// The error type of this package.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A condition that a key does not support, or a value that is invalid for a key part.
    #[error("{0}")]
    Condition(String),
    /// A plain write that would make derived rows inconsistent. The schema of the table declares derived rows, or the write would break a wide entity or a
    /// sequence.
    #[error("{0}")]
    Derived(String),
    /// An error from the store.
    #[error("{0}")]
    Store(#[from] table_core::Error),
}

/// A `Result` with this package's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
