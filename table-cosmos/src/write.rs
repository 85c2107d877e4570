//! Commits transactions. A single operation becomes one request. Several operations become one transactional batch within a partition key.
//!
//! By default, a request takes effect at most once, even if the network or the Azure SDK delivers it twice. For this purpose, every write except an insert is
//! conditional on an `ETag`, which is unique to one version of the item. Most writes therefore read the entity first. The Azure SDK is configured not to retry
//! a write that received no response. Instead, [`settle`](CosmosTables::settle) decides whether to send it again.

mod evidence;
mod planned;
mod refusal;
mod send;

use table_core::store::{AmbiguousWrite, Committed};
use table_core::{Error, ErrorCode, Operation, Result, TableName, Transaction};
use uuid::Uuid;

use crate::client::{CosmosTables, TRANSACTION_BYTES};
use crate::containers::Container;
use crate::failure::{Effect, Verdict};
use crate::{failure, key};
use evidence::Evidence;
use planned::{Context, Planned};
use refusal::{CONFLICT, placed, refusal, violation};
use send::Refused;

/// The maximum number of times a request is sent if no response arrives. It is sent again only if there is evidence that earlier attempts had no effect.
const SENDINGS: u32 = 4;

/// The destination of a transaction.
struct Target<'a> {
    table: &'a TableName,
    container: &'a Container,
    levels: &'a [String],
    /// The write identifier stored in the written items.
    write: String,
}

/// The outcome of the requests for a transaction.
enum Settled {
    Committed(Committed),
    /// A concurrent writer changed an entity between the read and the write. Nothing was written, and the transaction can be retried.
    RetryLoop(Error),
    /// The service rejected an insert with 409, although no item has its key. The container has a unique key policy. Nothing was written.
    ///
    /// Either another item has the unique value, or a concurrent writer deleted the item with this key after the rejection.
    ValueTaken(Error),
}

/// The reason a transaction was not acknowledged as committed.
enum Failed {
    /// Nothing was written.
    Refused(Error),
    /// The transaction may have been applied. Contains the error from the last response.
    InDoubt(Error),
}

impl CosmosTables {
    /// Commits a transaction.
    pub(crate) async fn write(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let transaction = self.checked(transaction)?;
        let container = self.container(table).await?;
        let partition_key = transaction.partition_key().as_str();
        let creates = transaction.operations().iter().any(|operation| planned::creates(&operation.kind));
        let levels = match key::checked_levels(partition_key, container.mapping.depth()) {
            Ok(levels) => levels,
            // No item can have such a PartitionKey. An insert is therefore rejected, and other operations find no entity (KEY-9).
            Err(error) if creates => return Err(error),
            Err(_) => return Err(refusal(&transaction, 0, (404, 0), None)),
        };
        for (at, operation) in transaction.operations().iter().enumerate() {
            if let Err(error) = key::check_id(operation.row_key.as_str()) {
                return Err(error.with_operation(at).with_key(partition_key, operation.row_key.as_str()));
            }
        }
        let write = Uuid::new_v4().simple().to_string();
        let target = Target { table, container: &container, levels: &levels, write };
        let mut race = self.options().retry.start("the entity");
        let mut was_taken = false;
        loop {
            let planned = self.plan(&target, transaction.operations()).await?;
            match self.settle(&target, &transaction, &planned).await {
                Ok(Settled::Committed(committed)) => return Ok(committed),
                Ok(Settled::RetryLoop(error)) => race.retry(error).await?,
                Ok(Settled::ValueTaken(error)) if was_taken => return Err(error),
                // If the item with the key was deleted after the first rejection, a second attempt succeeds.
                Ok(Settled::ValueTaken(_)) => was_taken = true,
                Err(Failed::Refused(error)) => return Err(error),
                Err(Failed::InDoubt(last)) => return Err(AmbiguousWrite::new(transaction, last).into_error()),
            }
        }
    }

    /// Sends the planned requests until their outcome is known, or can no longer be determined.
    ///
    /// After a lost response, a request is sent again only under two conditions. The stored entities must prove that it had no effect, and a second delivery
    /// must be certain to be rejected (CON-11).
    async fn settle(
        &self,
        target: &Target<'_>,
        transaction: &Transaction,
        planned: &[Planned],
    ) -> Result<Settled, Failed> {
        let guarded = planned.iter().any(Planned::is_guarded);
        let (mut unsent, mut unanswered, mut before) = (0, 0, None);
        loop {
            // The error from the last response. `useless` is `true` if a retry is pointless.
            let (last, useless) = match self.send(target, planned, transaction.lease()).await {
                Ok(sent) if sent.repeated && !guarded => {
                    return Err(Failed::InDoubt(failure::repeated_by_client()));
                }
                Ok(sent) => return Ok(Settled::Committed(sent.committed)),
                Err(Refused::Before(error)) => {
                    return Err(before.map_or(Failed::Refused(error), Failed::InDoubt));
                }
                Err(Refused::Acknowledged(error) | Refused::Late(error)) => (error, true),
                Err(Refused::At { at, status, repeated, cause }) => {
                    let is_known = failure::effect(status.0) != Effect::Unknown;
                    let is_certain = is_known && !repeated && unanswered == 0;
                    let plan = planned.get(at);
                    let is_of_value = match plan {
                        Some(plan) if status.0 == CONFLICT => match self.is_of_value(target, plan).await {
                            // Nothing was written. Whether the key or a unique value is taken is unknown.
                            Err(error) if is_certain => {
                                return Err(Failed::Refused(placed(error, transaction, at, None)));
                            }
                            found => found.unwrap_or(false),
                        },
                        _ => false,
                    };
                    let error = if is_of_value {
                        violation(transaction, at, &target.container.unique_keys, cause)
                    } else {
                        refusal(transaction, at, status, cause)
                    };
                    if is_certain {
                        return match plan {
                            Some(plan) if is_of_value && plan.is_creation() => Ok(Settled::ValueTaken(error)),
                            Some(plan) if !is_of_value && plan.lost_a_race(status.0) => {
                                Ok(Settled::RetryLoop(error))
                            }
                            _ => Err(Failed::Refused(error)),
                        };
                    }
                    (error, is_known)
                }
                Err(Refused::Whole(cause)) if failure::verdict(&cause) == Verdict::Unsent => {
                    unsent += 1;
                    let error = failure::error("write", cause);
                    match (unsent < SENDINGS, unanswered) {
                        (true, _) => self.options().pause(unsent - 1).await,
                        (false, 0) => return Err(Failed::Refused(error)),
                        (false, _) => return Err(Failed::InDoubt(error)),
                    }
                    continue;
                }
                Err(Refused::Whole(cause))
                    if failure::verdict(&cause) == Verdict::Doubtful || unanswered > 0 =>
                {
                    (failure::error("write", cause), false)
                }
                Err(Refused::Whole(cause)) if failure::is_container_gone(&cause) => {
                    return Err(Failed::Refused(self.gone(target.table, cause).await));
                }
                Err(Refused::Whole(cause)) => {
                    return Err(Failed::Refused(failure::error("write", cause)));
                }
            };
            unanswered += 1;
            match self.evidence(target, planned).await {
                Ok(Evidence::Applied(Some(committed))) => return Ok(Settled::Committed(committed)),
                Ok(Evidence::NotApplied) if unanswered < SENDINGS && !useless => {
                    tracing::debug!(target: "table_cosmos", unanswered, error = %last, "the write is sent again");
                    self.options().pause(unanswered - 1).await;
                    before = Some(last);
                }
                Ok(_) | Err(_) => return Err(Failed::InDoubt(last)),
            }
        }
    }

    /// Reads the entities on which the operations depend. Returns one request per operation.
    async fn plan(&self, target: &Target<'_>, operations: &[Operation]) -> Result<Vec<Planned>> {
        let mapping = &*target.container.mapping;
        let context = Context {
            mapping,
            levels: target.levels,
            write: &target.write,
            exact: self.options().exact || !mapping.is_standard,
            limits: &self.known_capabilities().limits,
        };
        let read: Vec<&str> = operations
            .iter()
            .filter(|operation| context.reads_first(&operation.kind))
            .map(|operation| operation.row_key.as_str())
            .collect();
        let found = self.find_items(target.table, target.container, target.levels, &read).await;
        let mut found = found.map_err(|error| match (operations, error.key()) {
            ([only], None) => {
                error.with_operation(0).with_key(key::join(target.levels), only.row_key.as_str())
            }
            _ => error,
        })?;
        let mut planned = Vec::with_capacity(operations.len());
        let mut bytes = 0;
        for (at, operation) in operations.iter().enumerate() {
            let row_key = operation.row_key.as_str();
            let stored = found.remove(row_key);
            let plan = Planned::new(context, operation, stored.as_ref());
            let plan =
                plan.map_err(|error| error.with_operation(at).with_key(key::join(target.levels), row_key))?;
            bytes += plan.sent_bytes(operations.len() > 1);
            planned.push(plan);
        }
        check_bytes(bytes, operations.len())?;
        Ok(planned)
    }

    /// Checks a transaction against the limits of this store.
    fn checked(&self, transaction: Transaction) -> Result<Transaction> {
        if transaction.operations().is_empty() {
            let message = "the transaction has no operations; add one, or do not submit it";
            return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("EGT-12"));
        }
        let limits = self.known_capabilities().limits;
        if *transaction.limits() == limits { Ok(transaction) } else { transaction.with_limits(limits) }
    }
}

/// Rejects a transaction if its request exceeds the maximum size.
fn check_bytes(bytes: usize, operations: usize) -> Result<()> {
    if bytes <= TRANSACTION_BYTES {
        return Ok(());
    }
    let (code, rule, help) = if operations == 1 {
        (ErrorCode::EntityTooLarge, "LIM-5", "store large values in blobs or in a wide entity")
    } else {
        (ErrorCode::RequestBodyTooLarge, "EGT-3", "commit it in parts")
    };
    let message =
        format!("the request has {bytes} bytes of JSON, at most {TRANSACTION_BYTES} are allowed; {help}");
    Err(Error::new(code, message).with_rule(rule))
}
