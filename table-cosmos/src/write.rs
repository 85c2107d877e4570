//! Writes: one operation as one request, more as a batch of one whole key; merges are read first and replaced under their ETag.

mod planned;
mod send;

use azure_data_cosmos::CosmosError;
use serde_json::Value as Json;
use table_core::store::{AmbiguousWrite, Committed};
use table_core::{Error, ErrorCode, Operation, Result, TableName, Transaction};
use uuid::Uuid;

use crate::client::{CosmosTables, TRANSACTION_BYTES};
use crate::container::Container;
use crate::{failure, key};
use planned::Planned;

/// How a request ended that was not acknowledged.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The operation at this place was refused with this status; nothing was written, unless it was the client's own repetition that was
    /// refused.
    At { at: usize, status: u16, repeated: bool, cause: Option<CosmosError> },
    /// The request as a whole.
    Whole(CosmosError),
    /// Nothing was sent.
    Before(Error),
}

impl CosmosTables {
    /// Applies a transaction.
    pub(crate) async fn write(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let transaction = self.checked(transaction)?;
        let container = self.container(table).await?;
        let partition_key = transaction.partition_key().as_str();
        let creates = transaction.operations().iter().any(|operation| planned::creates(&operation.kind));
        let levels = match key::checked_levels(partition_key, container.depth) {
            Ok(levels) => levels,
            // What no item can be is not there; what would be one is refused (KEY-9).
            Err(error) if creates => return Err(error),
            Err(_) => return Err(absent(&transaction, 0)),
        };
        for (at, operation) in transaction.operations().iter().enumerate() {
            if let Err(error) = key::check_id(operation.row_key.as_str()) {
                return Err(error.with_operation(at).with_key(partition_key, operation.row_key.as_str()));
            }
        }
        let write = Uuid::new_v4().simple().to_string();
        let mut race = self.options().retry.race("the entity");
        loop {
            let planned = self.plan(table, &container, &levels, transaction.operations(), &write).await?;
            let refused = match self.send(&container, &levels, &planned).await {
                Ok(committed) => return Ok(committed),
                Err(refused) => refused,
            };
            match refused {
                Refused::Before(error) => return Err(error),
                Refused::At { at, status, repeated, cause } => {
                    if repeated
                        && let Some(committed) =
                            self.look(table, &container, &levels, &planned, &write).await?
                    {
                        return Ok(committed);
                    }
                    let error = refusal(&transaction, at, status, cause);
                    if planned.get(at).is_some_and(|planned| planned.lost_a_race(status)) {
                        race.lost(error).await?;
                    } else if repeated {
                        // What was done first, and then undone by another writer or by itself as a delete, leaves nothing to recognise it by.
                        return Err(AmbiguousWrite::new(transaction, error).into_error());
                    } else {
                        return Err(error);
                    }
                }
                Refused::Whole(cause) if failure::is_container_gone(&cause) => {
                    return Err(self.gone(table, cause));
                }
                Refused::Whole(cause) if failure::leaves_doubt(&cause) => {
                    let last = failure::error("write", cause);
                    let seen = self.look(table, &container, &levels, &planned, &write).await.ok().flatten();
                    return seen.ok_or_else(|| AmbiguousWrite::new(transaction, last).into_error());
                }
                Refused::Whole(cause) => return Err(failure::error("write", cause)),
            }
        }
    }

    /// Each operation as what is sent for it, after a read of those that are composed.
    async fn plan(
        &self,
        table: &TableName,
        container: &Container,
        levels: &[String],
        operations: &[Operation],
        write: &str,
    ) -> Result<Vec<Planned>> {
        let mut planned = Vec::with_capacity(operations.len());
        let mut bytes = 0;
        for (at, operation) in operations.iter().enumerate() {
            let place = |error: Error| {
                error.with_operation(at).with_key(key::join(levels), operation.row_key.as_str())
            };
            let stored = if planned::reads_first(&operation.kind) {
                self.read_item(table, container, levels, operation.row_key.as_str()).await.map_err(place)?
            } else {
                None
            };
            let limits = self.known_capabilities().limits;
            let plan = Planned::new(levels, operation, stored, write, &limits).map_err(place)?;
            bytes += plan.body.as_ref().map_or(0, |body: &Json| body.to_string().len());
            planned.push(plan);
        }
        if bytes > TRANSACTION_BYTES {
            let message = format!(
                "the transaction has {bytes} bytes of JSON; at most {TRANSACTION_BYTES} are allowed: commit it in parts"
            );
            return Err(Error::new(ErrorCode::RequestBodyTooLarge, message).with_rule("EGT-3"));
        }
        Ok(planned)
    }

    /// Whether a transaction without an answer was applied: its items say which write stored them (CON-11).
    async fn look(
        &self,
        table: &TableName,
        container: &Container,
        levels: &[String],
        planned: &[Planned],
        write: &str,
    ) -> Result<Option<Committed>> {
        let mut committed = Vec::with_capacity(planned.len());
        let mut seen = false;
        for plan in planned {
            if plan.body.is_none() {
                committed.push(None);
                continue;
            }
            let item = self.read_item(table, container, levels, &plan.row_key).await?;
            let Some(item) = item.filter(|item| item.written_by.as_deref() == Some(write)) else {
                return Ok(None);
            };
            seen = true;
            committed.push(Some(item.etag));
        }
        Ok(seen.then_some(committed))
    }

    /// The transaction held to our limits.
    fn checked(&self, transaction: Transaction) -> Result<Transaction> {
        if transaction.operations().is_empty() {
            let message = "the transaction holds no operations: add one, or do not submit it";
            return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("EGT-12"));
        }
        let limits = self.known_capabilities().limits;
        if *transaction.limits() == limits {
            return Ok(transaction);
        }
        let (partition_key, operations) = transaction.into_parts();
        let mut checked = Transaction::new(partition_key, limits)?;
        for operation in operations {
            checked.push(operation)?;
        }
        Ok(checked)
    }
}

/// The entity at this place is not there.
fn absent(transaction: &Transaction, at: usize) -> Error {
    refusal(transaction, at, 404, None)
}

/// The error of an operation that was refused with this status.
fn refusal(transaction: &Transaction, at: usize, status: u16, cause: Option<CosmosError>) -> Error {
    let (code, rule, message) = match status {
        404 => (ErrorCode::ResourceNotFound, "UPD-2", "the entity is not there".to_owned()),
        409 => (ErrorCode::EntityAlreadyExists, "INS-1", "an entity of this key exists".to_owned()),
        412 => (ErrorCode::UpdateConditionNotSatisfied, "UPD-3", "the entity has another version".to_owned()),
        413 => (ErrorCode::EntityTooLarge, "LIM-5", "the item has more than 2 MB of JSON".to_owned()),
        _ => (failure::code(status, 0), "ERR-3", format!("the service refused it with status {status}")),
    };
    let row_key = transaction.operations().get(at).map_or("", |operation| operation.row_key.as_str());
    let error = Error::new(code, message)
        .with_rule(rule)
        .with_operation(at)
        .with_key(transaction.partition_key().as_str(), row_key);
    match cause {
        Some(cause) => error.with_source(cause),
        None => error,
    }
}
