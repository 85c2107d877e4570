//! `AmbiguousWrite`: a transaction whose outcome is unknown.

use std::error::Error as StdError;
use std::fmt;

use crate::error::Error;
use crate::transaction::Transaction;

/// A transaction as it was sent, together with the [ambiguous](Error::is_ambiguous) error of its last attempt (CON-11).
///
/// A backend that can lose responses attaches an `AmbiguousWrite` to such errors as their source. The caller, or a background worker, can then read the
/// entities and compare them with the transaction.
///
/// A write with a lost response may have been applied. Always read the entities before you revert it.
///
/// ```
/// use table_core::limits::Limits;
/// use table_core::store::AmbiguousWrite;
/// use table_core::{Error, ErrorCode, PartitionKey, Transaction};
///
/// let transaction = Transaction::new(PartitionKey::new("Sales")?, Limits::PORTABLE)?;
/// let last = Error::new(ErrorCode::EntityAlreadyExists, "it is there");
/// let error = AmbiguousWrite::new(transaction, last).into_error();
/// assert!(error.is_ambiguous());
/// let sent = AmbiguousWrite::of(&error).expect("it was just made so");
/// assert_eq!(sent.transaction().partition_key().as_str(), "Sales");
/// assert!(error.last_response().is_some_and(Error::is_already_exists));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AmbiguousWrite {
    transaction: Transaction,
    last: Error,
}

impl AmbiguousWrite {
    /// Records a transaction that was sent, and the error of its last attempt.
    #[must_use]
    pub const fn new(transaction: Transaction, last: Error) -> Self {
        Self { transaction, last }
    }

    /// Returns the record attached to an error, if the backend attached one.
    #[must_use]
    pub fn of(error: &Error) -> Option<&Self> {
        error.source()?.downcast_ref()
    }

    /// Returns the transaction as it was sent, including the properties that the backend added.
    #[must_use]
    pub const fn transaction(&self) -> &Transaction {
        &self.transaction
    }

    /// Returns the error for a write that may have been applied. It contains the table, key and operation of the last attempt's error.
    #[must_use]
    pub fn into_error(self) -> Error {
        let last = &self.last;
        let mut error = last.clone().into_ambiguous();
        if let ([only], None) = (self.transaction.operations(), last.operation()) {
            error = error
                .with_operation(0)
                .with_key(self.transaction.partition_key().as_str(), only.row_key.as_str());
        }
        error.with_source(self)
    }
}

impl fmt::Display for AmbiguousWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operations, partition_key) =
            (self.transaction.operations().len(), self.transaction.partition_key());
        write!(
            f,
            "{operations} operations on partition '{partition_key}' were sent; the last response: {}",
            self.last
        )
    }
}

impl StdError for AmbiguousWrite {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.last)
    }
}
