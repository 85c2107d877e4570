//! Sends transactions. A single operation becomes one request, and several operations become a batch. Limits are checked before sending.

mod request;

use table_core::limits::{ENTITY_BYTES, ENTITY_RESERVE};
use table_core::row::entity_bytes;
use table_core::store::{Committed, WriteLease};
use table_core::{ETag, Error, ErrorCode, Operation, Result, TableName, Transaction};
use tokio::time::Instant;
use uuid::Uuid;

use crate::client::AzureTables;
use crate::http::{Answer, Failure, Request};
use crate::operation_id;
use crate::target::Target;

pub(crate) use request::WriteRequest;

/// The size above which an entity is reported as near the limit, in bytes according to the published formula. The service's actual limit is slightly lower than
/// the documented one (SIZE-4, ENG-3).
const NEAR_LIMIT: usize = ENTITY_BYTES - 164;

impl AzureTables {
    /// Commits a transaction. If its outcome is ambiguous, the client tries to determine it.
    pub(crate) async fn write(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let transaction = self.identified(self.checked(transaction)?)?;
        let by = self.pipeline().deadline();
        let partition_key = transaction.partition_key().as_str();
        let lease = transaction.lease();
        let sent = match transaction.operations() {
            [] => {
                let message = "the transaction has no operations; add one, or do not submit it";
                return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("EGT-12"));
            }
            [operation] => {
                let at = |error: Error| {
                    error.with_operation(0).with_key(partition_key, operation.row_key.as_str())
                };
                let request = WriteRequest::new(table, partition_key, operation)
                    .and_then(|request| request.to(self.target()).into_request());
                let request = self.limited(request.map_err(at)?, lease);
                self.write_one(&request, by).await.map_err(|failed| failed.map(at))
            }
            operations => {
                let request = self.limited(self.batch(table, partition_key, operations)?, lease);
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

    /// Sets the lease of a request. With a lease, each attempt also gets a time limit in the service (REQ-6), because an attempt must not take effect long
    /// after the lease ends. Cosmos DB does not document such a limit.
    fn limited(&self, request: Request, lease: Option<&WriteLease>) -> Request {
        let has_limit = lease.is_some() && self.target() != Target::Cosmos;
        let seconds = || WriteLease::ATTEMPT.as_secs().to_string();
        let request = if has_limit { request.query("timeout", &seconds()) } else { request };
        request.under(lease)
    }

    /// Adds a write identifier if the options or the caller request one.
    ///
    /// The result [is identified](Transaction::is_identified) only if this client added the identifier. A program's own property with the same name does not
    /// identify the write.
    fn identified(&self, transaction: Transaction) -> Result<Transaction> {
        if !self.identifies() && !transaction.is_identified() {
            return Ok(transaction);
        }
        match operation_id::identified(&transaction, self.service_limits(), Uuid::new_v4()) {
            // The identifier does not fit. The caller prefers one but does not require it.
            Err(_) if !self.identifies() => Ok(transaction.unidentified()),
            marked => marked.map(Transaction::identified),
        }
    }

    /// Checks a transaction against the limits of this store and of its target.
    fn checked(&self, transaction: Transaction) -> Result<Transaction> {
        let limits = self.known_capabilities().limits;
        let transaction =
            if *transaction.limits() == limits { transaction } else { transaction.with_limits(limits)? };
        let partition_key = transaction.partition_key().as_str();
        for (index, operation) in transaction.operations().iter().enumerate() {
            let at = |error: Error| {
                error.with_operation(index).with_key(partition_key, operation.row_key.as_str())
            };
            self.target().check(operation).map_err(at)?;
        }
        // By the formula, an entity is at most about twice as large as in the request body. A small transaction cannot contain a large entity, so its entities
        // need not be measured.
        if transaction.bytes() > NEAR_LIMIT / 3 {
            for operation in transaction.operations() {
                warn_of_limit(partition_key, operation);
            }
        }
        Ok(transaction)
    }

    async fn write_one(&self, request: &Request, by: Instant) -> Result<Committed, Unacknowledged> {
        let answer = self.pipeline().send_by(request, by).await.map_err(Unacknowledged::of)?;
        Ok(vec![etag_of(&answer)])
    }
}

/// A write that was not acknowledged.
#[derive(Debug)]
pub(crate) struct Unacknowledged {
    /// The error from the last attempt.
    pub(crate) error: Error,
    /// `true` if any attempt may have been applied (CON-11).
    pub(crate) into_ambiguous: bool,
}

impl Unacknowledged {
    pub(crate) fn of(failure: Failure) -> Self {
        Self { into_ambiguous: failure.into_ambiguous, error: failure.error }
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

/// Returns the `ETag` of a written entity, or `None` for a delete (ETAG-3).
pub(crate) fn etag_of(answer: &Answer) -> Option<ETag> {
    ETag::parse(answer.header("etag")).ok()
}
