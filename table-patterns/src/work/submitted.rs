//! The possible results of a worker's transactions on outbox rows.

use table_core::store::Committed;
use table_core::{ErrorCode, Result};

/// The result of a transaction on outbox rows.
pub(super) enum Submitted {
    /// The transaction was committed.
    Committed(Committed),
    /// Another worker has changed one of the rows, or the table does not exist.
    Lost,
    /// The rows are too large for one transaction. A transaction with fewer operations may succeed.
    TooLarge,
}

impl Submitted {
    /// Converts the result from the store. `is_divisible` is `true` if the transaction has several operations.
    ///
    /// # Errors
    /// Any store error for which this type has no variant. `RequestBodyTooLarge` is returned only for a single operation.
    pub(super) fn of(committed: Result<Committed>, is_divisible: bool) -> Result<Self> {
        match committed {
            Err(error) if error.is_conflict() || error.is_table_not_found() => Ok(Self::Lost),
            Err(error) if is_divisible && error.code() == ErrorCode::RequestBodyTooLarge => {
                Ok(Self::TooLarge)
            }
            committed => committed.map(Self::Committed),
        }
    }
}
