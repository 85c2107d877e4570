//! Writes: one operation as one request, more as a batch; each held to the limits before anything is sent.

mod request;

use table_core::limits::{ENTITY_BYTES, ENTITY_RESERVE};
use table_core::row::entity_bytes;
use table_core::store::Committed;
use table_core::{ETag, Error, ErrorCode, Operation, Result, TableName, Transaction};
use tokio::time::Instant;
use uuid::Uuid;

use crate::client::AzureTables;
use crate::failure::AnswerFault;
use crate::http::{Answer, Failure, Request};
use crate::operation_id;

pub(crate) use request::WriteRequest;

/// Bytes by the published formula from which the service's own count may be over its limit (SIZE-4, ENG-3).
const NEAR_LIMIT: usize = ENTITY_BYTES - 164;

impl AzureTables {
    /// Applies a transaction.
    pub(crate) async fn write(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let transaction = self.identified(self.checked(transaction)?)?;
        let by = self.pipeline().deadline();
        let partition_key = transaction.partition_key().as_str();
        let sent = match transaction.operations() {
            [] => {
                let message = "the transaction holds no operations: add one, or do not submit it";
                return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("EGT-12"));
            }
            [operation] => {
                let at = |error: Error| {
                    error.with_operation(0).with_key(partition_key, operation.row_key.as_str())
                };
                let request = WriteRequest::new(table, partition_key, operation)
                    .and_then(|request| request.to(self.target()).into_request());
                self.write_one(&request.map_err(at)?, by).await.map_err(|failed| failed.map(at))
            }
            operations => {
                let request = self.batch(table, partition_key, operations)?;
                self.write_batch(&request, partition_key, operations, by).await
            }
        };
        match sent {
            Ok(committed) => Ok(committed),
            Err(Unacknowledged { error, into_ambiguous: false }) => Err(error),
            Err(Unacknowledged { error, into_ambiguous: true }) => {
                self.resolve(table, transaction, error, by).await
            }
        }
    }

    /// The transaction with an identifier, where the options or its sender ask for one.
    fn identified(&self, transaction: Transaction) -> Result<Transaction> {
        if !self.identifies() && !transaction.is_identified() {
            return Ok(transaction);
        }
        match operation_id::identified(&transaction, Uuid::new_v4()) {
            // A preference only, without room in the request.
            Err(_) if !self.identifies() => Ok(transaction),
            marked => marked,
        }
    }

    /// Holds a transaction that was built under other limits to ours, and to what only this target asks for.
    fn checked(&self, transaction: Transaction) -> Result<Transaction> {
        let limits = self.known_capabilities().limits;
        let transaction = if *transaction.limits() == limits {
            transaction
        } else {
            let identified = transaction.is_identified();
            let (partition_key, operations) = transaction.into_parts();
            let mut checked = Transaction::new(partition_key, limits)?;
            for operation in operations {
                checked.push(operation)?;
            }
            if identified { checked.identified() } else { checked }
        };
        let partition_key = transaction.partition_key().as_str();
        for (index, operation) in transaction.operations().iter().enumerate() {
            let at = |error: Error| {
                error.with_operation(index).with_key(partition_key, operation.row_key.as_str())
            };
            self.target().check(operation).map_err(at)?;
        }
        // No entity of a small transaction is large: most need not be measured once more.
        if transaction.bytes() > NEAR_LIMIT {
            for operation in transaction.operations() {
                warn_of_limit(partition_key, operation);
            }
        }
        Ok(transaction)
    }

    async fn write_one(&self, request: &Request, by: Instant) -> Result<Committed, Unacknowledged> {
        match self.pipeline().send_by(request, by).await {
            Ok(answer) if matches!(answer.status, 201 | 204) => Ok(vec![etag_of(&answer)]),
            // A page of some proxy's, say: what became of the request is not in it.
            Ok(answer) => Err(Unacknowledged::unreadable(request.operation, answer.status)),
            Err(failure) => Err(Unacknowledged::of(failure)),
        }
    }
}

/// A write that was not acknowledged.
#[derive(Debug)]
pub(crate) struct Unacknowledged {
    /// The result of the last attempt.
    pub(crate) error: Error,
    /// Whether any attempt may have been applied (CON-11).
    pub(crate) into_ambiguous: bool,
}

impl Unacknowledged {
    pub(crate) fn of(failure: Failure) -> Self {
        Self { into_ambiguous: failure.into_ambiguous, error: failure.error }
    }

    fn unreadable(operation: &str, status: u16) -> Self {
        let fault = AnswerFault::Status { operation: operation.to_owned(), status };
        Self { error: Error::of(fault), into_ambiguous: true }
    }

    pub(crate) fn map(self, change: impl FnOnce(Error) -> Error) -> Self {
        Self { error: change(self.error), ..self }
    }
}

fn warn_of_limit(partition_key: &str, operation: &Operation) {
    let row_key = operation.row_key.as_str();
    let bytes = entity_bytes(partition_key, row_key, operation.kind.row());
    if bytes > NEAR_LIMIT {
        let most = ENTITY_BYTES - ENTITY_RESERVE;
        tracing::warn!(
            target: "table_azure", partition_key, row_key, bytes, most, "the entity is near its limit (ENG-3)"
        );
    }
}

/// The version that a write gave its entity; deletes have none (ETAG-3).
pub(crate) fn etag_of(answer: &Answer) -> Option<ETag> {
    ETag::parse(answer.header("etag")).ok()
}
