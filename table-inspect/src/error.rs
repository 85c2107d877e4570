//! Errors: a condition that a key cannot answer, a write that would leave derived rows wrong, or an error of the store.

/// The reason why a table was not read or not written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A condition on parts of a key that the key cannot answer, or a value that a part cannot have.
    #[error("{0}")]
    Condition(String),
    /// A write of plain rows where a schema declares rows that follow from others.
    #[error("{0}")]
    Derived(String),
    /// An error of the store, with its code, key and rule.
    #[error("{0}")]
    Store(#[from] table_core::Error),
}

/// The result of a read or a check.
pub type Result<T, E = Error> = std::result::Result<T, E>;
