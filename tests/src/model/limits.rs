//! Checks the limits of entities and transactions, following the text of the rules (ENT-2, TYPE-10, SIZE-1 to SIZE-4, EGT-2,
//! EGT-3).

use table_core::limits::Limits;
use table_core::transaction::Transaction;
use table_core::{EntityKey, Error, ErrorCode, OperationKind, Result, Value};

use super::{Properties, properties};

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn refuse(code: ErrorCode, rule: &'static str) -> Result<()> {
    Err(Error::new(code, "over a limit of the model").with_rule(rule))
}

/// Checks a transaction against all rules that do not depend on stored data (ENG-7).
pub(super) fn check_transaction(limits: &Limits, transaction: &Transaction) -> Result<()> {
    let partition_key = transaction.partition_key().as_str();
    let operations = transaction.operations();
    if operations.is_empty() {
        return refuse(ErrorCode::InvalidInput, "EGT-12");
    }
    if operations.len() > limits.operations {
        return refuse(ErrorCode::InvalidInput, "EGT-2");
    }
    let mut sum = 0;
    for (index, operation) in operations.iter().enumerate() {
        let row_key = operation.row_key.as_str();
        let judge = || {
            let row = operation.kind.row().map(|row| properties(row.view())).transpose()?;
            EntityKey::new(partition_key, row_key)?;
            let creates = !matches!(
                operation.kind,
                OperationKind::Replace(..) | OperationKind::Merge(..) | OperationKind::Delete(_)
            );
            if creates && units(partition_key).max(units(row_key)) > limits.key_units {
                refuse(ErrorCode::PropertyValueTooLarge, "KEY-8")?;
            }
            if let Some(properties) = &row {
                check_entity(limits, partition_key, row_key, properties)?;
            }
            if operations.iter().take(index).any(|earlier| earlier.row_key == operation.row_key) {
                refuse(ErrorCode::InvalidDuplicateRow, "EGT-4")?;
            }
            Ok(size(partition_key, row_key, &row.unwrap_or_default()))
        };
        sum += judge().map_err(|error: Error| error.with_operation(index))?;
    }
    if sum > limits.transaction_bytes {
        return refuse(ErrorCode::RequestBodyTooLarge, "EGT-3");
    }
    Ok(())
}

/// Returns the size of an entity in bytes (SIZE-2 and SIZE-3).
pub(super) fn size(partition_key: &str, row_key: &str, properties: &Properties) -> usize {
    let value = |value: &Value| match value {
        Value::String(text) => 2 * units(text) + 4,
        Value::Binary(bytes) => bytes.len() + 4,
        Value::Int32(_) => 4,
        Value::Int64(_) | Value::Double(_) | Value::DateTime(_) => 8,
        Value::Guid(_) => 16,
        Value::Boolean(_) => 1,
    };
    4 + 2 * (units(partition_key) + units(row_key))
        + properties.iter().map(|(name, v)| 8 + 2 * units(name) + value(v)).sum::<usize>()
}

/// Checks the limits for an entity as it would be stored (SIZE-6).
pub(super) fn check_entity(
    limits: &Limits,
    partition_key: &str,
    row_key: &str,
    properties: &Properties,
) -> Result<()> {
    if properties.len() > limits.properties {
        return refuse(ErrorCode::TooManyProperties, "ENT-2");
    }
    for (name, value) in properties {
        if units(name) > 255 {
            return refuse(ErrorCode::PropertyNameTooLong, "PROP-2");
        }
        if matches!(name.as_str(), "PartitionKey" | "RowKey" | "Timestamp") {
            return refuse(ErrorCode::PropertyNameInvalid, "PROP-4");
        }
        let too_large = match value {
            Value::String(text) => units(text) > limits.string_units,
            Value::Binary(bytes) => bytes.len() > limits.binary_bytes,
            _ => false,
        };
        if too_large {
            return refuse(ErrorCode::PropertyValueTooLarge, "TYPE-10");
        }
    }
    // The limit includes 88 bytes that the published formula omits (SIZE-4).
    if size(partition_key, row_key, properties) + 88 > limits.entity_bytes {
        return refuse(ErrorCode::EntityTooLarge, "SIZE-1");
    }
    Ok(())
}
