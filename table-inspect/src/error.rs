//! Errors: an unsupported condition on a key, a write that would make derived rows inconsistent, or an error from the store.

/// The reason why a table was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A condition that a key does not support, or a value that a key part cannot have.
    #[error("{0}")]
    Condition(String),
    /// A plain write to a table whose schema declares derived rows, or one that would damage a wide entity or a sequence.
    #[error("{0}")]
    Derived(String),
    /// An error from the store, with its code, key and rule.
    #[error("{0}")]
    Store(#[from] table_core::Error),
}

/// The result of a read or a check.
pub type Result<T, E = Error> = std::result::Result<T, E>;
