//! Repairs index rows stored in the same partition as their entities.

use table_core::{DynTableStore, IfMatch, Operation, OperationKind, TableEntity, TableStore, Transaction};

use crate::check::copies::{ATTEMPTS, CheckedIndex, CopyFinding, Fault};
use crate::failure::Result;

/// The outcome of repairing one defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repaired {
    /// The index row was written or deleted.
    Done,
    /// No repair was needed: a program has changed the rows since they were read, and they no longer have a defect.
    Unneeded,
    /// The defect remains, because only a program or a person can repair it, or because a program kept changing the rows.
    Left,
}

/// Repairs one defect in one transaction, conditional on the row versions read by the check. If a row has changed since, the rows are read and compared again.
///
/// # Errors
/// Any error from the store.
pub async fn repair_copy(checked: CheckedIndex<'_>, finding: &CopyFinding) -> Result<Repaired> {
    let CheckedIndex { store, table, .. } = checked;
    let mut finding = finding.clone();
    for _ in 0..ATTEMPTS {
        let Some(transaction) = transaction(store, &finding)? else { return Ok(Repaired::Left) };
        match store.submit(table, transaction).await {
            Ok(_) => return Ok(Repaired::Done),
            Err(error)
                if error.is_precondition_failed() || error.is_not_found() || error.is_already_exists() => {}
            Err(error) => return Err(error.into()),
        }
        match checked.again(&finding).await? {
            None => return Ok(Repaired::Unneeded),
            Some(now) => finding = now,
        }
    }
    Ok(Repaired::Left)
}

/// Returns the transaction that repairs a defect, or `None` if only a program or a person can repair it.
fn transaction(store: &DynTableStore, finding: &CopyFinding) -> Result<Option<Transaction>> {
    let version = |row: &TableEntity| row.etag().cloned().map_or(IfMatch::Any, IfMatch::ETag);
    let mut transaction = Transaction::new(finding.key.partition_key.clone(), store.capabilities().limits)?;
    let row_key = finding.key.row_key.clone();
    match (&finding.fault, &finding.entity, &finding.wanted, &finding.found) {
        (Fault::Orphaned, _, _, Some(found)) => {
            transaction.push(Operation { row_key, kind: OperationKind::Delete(version(found)) })?;
        }
        (Fault::Missing | Fault::Different, Some(entity), Some(wanted), found) => {
            // An empty merge makes the transaction conditional on the entity's version.
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
        _ => return Ok(None),
    }
    Ok(Some(transaction))
}
