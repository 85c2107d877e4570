//! Writes: one operation as one request, more as a batch; each held to the limits before anything is sent.

mod request;

use table_core::limits::{ENTITY_BYTES, ENTITY_RESERVE};
use table_core::row::entity_bytes;
use table_core::store::Committed;
use table_core::{ETag, Error, ErrorCode, Operation, OperationKind, Result, TableName, Transaction};

use crate::client::AzureTables;
use crate::http::Answer;

pub(crate) use request::WriteRequest;

/// Bytes by the published formula from which the service's own count may be over its limit (SIZE-4, ENG-3).
const NEAR_LIMIT: usize = ENTITY_BYTES - 164;

impl AzureTables {
    /// Applies a transaction.
    pub(crate) async fn write(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let transaction = self.checked(transaction)?;
        let partition_key = transaction.partition_key().clone();
        match transaction.operations() {
            [] => {
                let message = "the transaction holds no operations: add one, or do not submit it";
                Err(Error::new(ErrorCode::InvalidInput, message).with_rule("EGT-12"))
            }
            [operation] => {
                let outcome = self.write_one(table, partition_key.as_str(), operation).await;
                outcome.map(|etag| vec![etag]).map_err(|error| {
                    error.with_operation(0).with_key(partition_key.as_str(), operation.row_key.as_str())
                })
            }
            operations => self.write_batch(table, partition_key.as_str(), operations).await,
        }
    }

    /// Holds a transaction that was built under other limits to ours, and to what only this target asks for.
    fn checked(&self, transaction: Transaction) -> Result<Transaction> {
        let limits = self.known_capabilities().limits;
        let transaction = if *transaction.limits() == limits {
            transaction
        } else {
            let (partition_key, operations) = transaction.into_parts();
            let mut checked = Transaction::new(partition_key, limits)?;
            for operation in operations {
                checked.push(operation)?;
            }
            checked
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

    async fn write_one(
        &self,
        table: &TableName,
        partition_key: &str,
        operation: &Operation,
    ) -> Result<Option<ETag>> {
        let request = WriteRequest::new(table, partition_key, operation)?.to(self.target()).into_request()?;
        let failure = match self.pipeline().send(&request).await {
            Ok(answer) => return Ok(etag_of(&answer)),
            Err(failure) => failure,
        };
        let Some(doubt) = failure.doubt else { return Err(failure.into_error(false)) };
        match (&operation.kind, failure.error.code()) {
            // The first attempt did it, or another did the same: the entity is gone.
            (OperationKind::Delete(_), ErrorCode::ResourceNotFound) => Ok(None),
            (_, ErrorCode::EntityAlreadyExists | ErrorCode::UpdateConditionNotSatisfied) => {
                let operations = std::slice::from_ref(operation);
                let verdict = self.verdict(table, partition_key, operations, doubt).await;
                verdict.settle(failure.error).map(|etags| etags.into_iter().next().flatten())
            }
            _ => Err(failure.into_error(false)),
        }
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
