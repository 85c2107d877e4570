//! Write identifiers: a property whose value is unique to each write (CON-11).

use table_core::limits::{Limits, TransactionMeasure};
use table_core::query::Rows;
use table_core::row::{Row, RowView, RowWriter};
use table_core::{Error, ErrorCode, Operation, OperationKind, Result, Transaction, ValueRef};
use uuid::Uuid;

/// The name of the property that contains the identifier.
pub(crate) const PROPERTY: &str = "OperationId";

/// The number of bytes that an identifier adds to an entity (SIZE-2).
///
/// The published formula counts 8 bytes, 2 bytes for each character of the name, and 16 bytes for the value.
const ENTITY_BYTES: usize = 8 + 2 * PROPERTY.len() + 16;
/// The number of bytes an identifier adds to an operation in a request body.
const BODY_BYTES: usize =
    r#""OperationId@odata.type":"Edm.Guid","OperationId":"00000000-0000-0000-0000-000000000000","#.len();

/// Returns the service's limits, reduced by the space for write identifiers. If a transaction is within the reduced limits, it is within the service's limits
/// after the identifiers have been added.
pub(crate) const fn reserved(service: Limits) -> Limits {
    let mut limits = service;
    limits.properties = limits.properties.saturating_sub(1);
    limits.entity_bytes = limits.entity_bytes.saturating_sub(ENTITY_BYTES);
    if let TransactionMeasure::Body { per_operation, ascii } = limits.measure {
        limits.measure = TransactionMeasure::Body { per_operation: per_operation + BODY_BYTES, ascii };
    }
    limits
}

/// Adds an identifier to every entity of a transaction. Checks that the result is within `limits`, the limits of the service.
///
/// # Errors
/// - `InvalidInput` if an entity already has a property with the same name.
/// - `TooManyProperties`, `EntityTooLarge` or `RequestBodyTooLarge` if the identifier does not fit.
pub(crate) fn identified(transaction: &Transaction, limits: Limits, id: Uuid) -> Result<Transaction> {
    let mut marked = Transaction::new(transaction.partition_key().clone(), limits)?;
    if let Some(lease) = transaction.lease() {
        marked = marked.with_lease(lease.clone());
    }
    for (index, operation) in transaction.operations().iter().enumerate() {
        let Operation { row_key, kind } = operation.clone();
        let at = |error: Error| {
            error
                .with_operation(index)
                .with_key(transaction.partition_key().as_str(), operation.row_key.as_str())
        };
        let with = |row: Row| with(row.view(), id).map_err(at);
        let kind = match kind {
            OperationKind::Insert(row) => OperationKind::Insert(with(row)?),
            OperationKind::Replace(row, condition) => OperationKind::Replace(with(row)?, condition),
            OperationKind::Merge(row, condition) => OperationKind::Merge(with(row)?, condition),
            OperationKind::InsertOrReplace(row) => OperationKind::InsertOrReplace(with(row)?),
            OperationKind::InsertOrMerge(row) => OperationKind::InsertOrMerge(with(row)?),
            kind @ (OperationKind::Delete(_) | OperationKind::Check(_)) => kind,
        };
        marked.push(Operation { row_key, kind })?;
    }
    Ok(marked)
}

fn with(row: RowView<'_>, id: Uuid) -> Result<Row> {
    if row.find(PROPERTY, &mut 0)?.is_some() {
        let message = format!(
            "the entity has a property `{PROPERTY}`, which the store uses for the identifiers of its writes; rename it, or \
             turn off `Options::operation_ids`"
        );
        return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("CON-11"));
    }
    let mut writer = copy(row)?;
    writer.property(PROPERTY, ValueRef::Guid(id));
    Ok(writer.finish())
}

/// Returns the write identifier in a row, if it has one.
pub(crate) fn of(row: RowView<'_>) -> Result<Option<Uuid>> {
    Ok(match row.find(PROPERTY, &mut 0)? {
        Some(ValueRef::Guid(id)) => Some(id),
        _ => None,
    })
}

/// Returns a row without its write identifier.
pub(crate) fn without(row: Row) -> Result<Row> {
    if row.view().find(PROPERTY, &mut 0)?.is_none() {
        return Ok(row);
    }
    Ok(copy(row.view())?.finish().with_timestamp(row.view().timestamp()))
}

/// Returns a copy of the rows without their write identifiers.
pub(crate) fn none_in(rows: &Rows) -> Result<Rows> {
    let mut kept = Rows::default();
    for entity in rows.iter() {
        let row = without(entity.row.to_row())?;
        kept.push(entity.partition_key, entity.row_key, row.view(), Some(entity.etag()));
    }
    Ok(kept)
}

/// Copies all properties of a row except the write identifier.
fn copy(row: RowView<'_>) -> Result<RowWriter> {
    let mut writer = RowWriter::with_capacity(row.len() + 1);
    for property in row.properties() {
        let property = property?;
        if property.name != PROPERTY {
            writer.property(property.name, property.value);
        }
    }
    Ok(writer)
}

#[cfg(test)]
mod tests {
    use table_core::{PartitionKey, RowKey};

    use super::*;

    fn insert(row: Row) -> Transaction {
        let mut transaction = Transaction::new(PartitionKey::new("p").unwrap(), Limits::PORTABLE).unwrap();
        transaction
            .push(Operation { row_key: RowKey::new("r").unwrap(), kind: OperationKind::Insert(row) })
            .unwrap();
        transaction
    }

    fn row(count: usize) -> Row {
        let mut row = RowWriter::new();
        for number in 0..count {
            row.property(&format!("P{number}"), ValueRef::Int32(1));
        }
        row.finish()
    }

    #[test]
    fn con_11_an_operation_id_is_stored_with_the_entity_and_hidden() {
        let id = Uuid::from_u128(7);
        let marked = identified(&insert(row(2)), Limits::PORTABLE, id).unwrap();
        let stored = marked.operations()[0].kind.row().unwrap().clone().with_timestamp(5);
        assert_eq!((of(stored.view()).unwrap(), stored.view().len()), (Some(id), 3));
        assert_eq!(without(stored).unwrap(), row(2).with_timestamp(5));
        assert_eq!((marked.bytes() - insert(row(2)).bytes(), ENTITY_BYTES), (46, 46));
    }

    #[test]
    fn con_11_and_ent_2_an_operation_id_counts_against_the_limits() {
        assert!(identified(&insert(row(251)), Limits::PORTABLE, Uuid::nil()).is_ok());
        let error = identified(&insert(row(252)), Limits::PORTABLE, Uuid::nil()).unwrap_err();
        assert_eq!((error.code(), error.operation()), (ErrorCode::TooManyProperties, Some(0)));
        let mut own = RowWriter::new();
        own.property(PROPERTY, ValueRef::Int32(1));
        let error = identified(&insert(own.finish()), Limits::PORTABLE, Uuid::nil()).unwrap_err();
        assert_eq!((error.rule(), error.key()), (Some("CON-11"), Some(("p", "r"))));
    }
}
