//! Errors for operations rejected by the service.

use azure_data_cosmos::CosmosError;
use table_core::{Error, ErrorCode, Result, Transaction};

use crate::client::CosmosTables;
use crate::failure;
use crate::unique::UniqueKeys;
use crate::write::Target;
use crate::write::planned::Planned;

/// The status for a conflict (LIM-16). The key exists, or another item with the same partition key has the unique value.
pub(super) const CONFLICT: u16 = 409;

impl CosmosTables {
    /// Returns `true` if a unique key caused a rejection with 409, instead of an existing item.
    ///
    /// In this case, the container has unique keys. In addition, the request was not an insert, or no item has its key.
    pub(super) async fn is_of_value(&self, target: &Target<'_>, planned: &Planned) -> Result<bool> {
        if target.container.unique_keys.is_empty() {
            return Ok(false);
        }
        if !planned.is_creation() {
            return Ok(true);
        }
        // The Azure SDK has stored the session token of the rejection. With Session consistency or stronger, the read is therefore at least as recent as the
        // rejection.
        let found = self.find_raw(target.table, target.container, target.levels, &planned.row_key).await?;
        Ok(found.is_none())
    }
}

/// Returns the error for an operation that failed with the given status and sub-status.
pub(super) fn refusal(
    transaction: &Transaction,
    at: usize,
    (status, sub): (u16, u16),
    cause: Option<CosmosError>,
) -> Error {
    let (code, rule, message) = match status {
        404 if sub == 0 => (ErrorCode::ResourceNotFound, "UPD-2", "the entity does not exist".to_owned()),
        CONFLICT => {
            (ErrorCode::EntityAlreadyExists, "INS-1", "an entity with this key already exists".to_owned())
        }
        412 => (ErrorCode::UpdateConditionNotSatisfied, "UPD-3", "the entity has another version".to_owned()),
        413 => (ErrorCode::EntityTooLarge, "LIM-5", "the item has more than 2 MB of JSON".to_owned()),
        _ => {
            let help = failure::help(status, sub);
            (failure::code(status, sub), "ERR-3", format!("it failed with status {status}/{sub}{help}"))
        }
    };
    placed(Error::new(code, message).with_rule(rule), transaction, at, cause)
}

/// Returns the error for an operation whose unique value already belongs to another item with the same partition key.
pub(super) fn violation(
    transaction: &Transaction,
    at: usize,
    keys: &UniqueKeys,
    cause: Option<CosmosError>,
) -> Error {
    let message = format!(
        "another item of the partition key has the same value at {keys}, which the container's unique key policy forbids (a missing member counts as a \
         value); write another value, or change the other item first"
    );
    placed(Error::new(ErrorCode::UniqueViolation, message).with_rule("LIM-16"), transaction, at, cause)
}

/// Adds the index and the key of an operation, and the cause, to an error.
pub(super) fn placed(
    error: Error,
    transaction: &Transaction,
    at: usize,
    cause: Option<CosmosError>,
) -> Error {
    let row_key = transaction.operations().get(at).map_or("", |operation| operation.row_key.as_str());
    let error = error.with_operation(at).with_key(transaction.partition_key().as_str(), row_key);
    match cause {
        Some(cause) => error.with_source(cause),
        None => error,
    }
}
