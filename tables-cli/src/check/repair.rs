//! Repairs index rows in the same partition as their entities.

use table_core::{
    DynTableStore, IfMatch, Operation, OperationKind, TableEntity, TableName, TableStore, Transaction,
};

use crate::check::copies::{CopyFinding, Fault};
use crate::failure::Result;

/// Repairs one defect in one transaction, conditional on the versions that were read. Returns `false` for a defect that only a program or a person
/// can repair.
///
/// # Errors
/// `UpdateConditionNotSatisfied` if a row was changed in the meantime; check again.
pub async fn repair_copy(store: &DynTableStore, table: &TableName, finding: &CopyFinding) -> Result<bool> {
    let version = |row: &TableEntity| row.etag().cloned().map_or(IfMatch::Any, IfMatch::ETag);
    let mut transaction = Transaction::new(finding.key.partition_key.clone(), store.capabilities().limits)?;
    let row_key = finding.key.row_key.clone();
    match (&finding.fault, &finding.entity, &finding.wanted, &finding.found) {
        (Fault::Orphaned, _, _, Some(found)) => {
            transaction.push(Operation { row_key, kind: OperationKind::Delete(version(found)) })?;
        }
        (Fault::Missing | Fault::Different, Some(entity), Some(wanted), found) => {
            // The entity must not change between reading it and writing its index row.
            let unchanged = TableEntity::from(entity.key().clone()).to_row()?;
            let kind = OperationKind::Merge(unchanged, version(entity));
            transaction.push(Operation { row_key: entity.key().row_key.clone(), kind })?;
            let row = wanted.to_row()?;
            let kind = match found {
                Some(found) => OperationKind::Replace(row, version(found)),
                None => OperationKind::Insert(row),
            };
            transaction.push(Operation { row_key, kind })?;
        }
        _ => return Ok(false),
    }
    store.submit(table, transaction).await?;
    Ok(true)
}
