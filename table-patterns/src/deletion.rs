//! Bulk deletes. Each transaction deletes as many rows as the store allows.

use table_core::Result;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::store::TableStore;

use crate::converge;

/// Deletes rows that still satisfy their conditions. Skips rows that have been changed or deleted in the meantime. Returns the number of deleted rows.
///
/// If a transaction is refused because of one of its rows, each of its rows is deleted in a separate transaction.
///
/// # Errors
/// Any error from the store, except for a missing row or a failed condition. Rows that have already been deleted are not restored.
pub(crate) async fn delete_rows<S: TableStore>(
    (store, table): (&S, &TableName),
    mut rows: Vec<(EntityKey, IfMatch)>,
) -> Result<u64> {
    sort(&mut rows);
    let most = store.capabilities().limits.operations.max(1);
    let mut deleted = 0;
    for partition in rows.chunk_by(|(one, _), (next, _)| one.partition_key == next.partition_key) {
        for some in partition.chunks(most) {
            if delete_together((store, table), some).await? {
                deleted += u64::try_from(some.len()).unwrap_or(u64::MAX);
            } else if some.len() > 1 {
                for one in some.chunks(1) {
                    deleted += u64::from(delete_together((store, table), one).await?);
                }
            }
        }
    }
    Ok(deleted)
}

/// Sorts rows by key. This brings the rows of each partition together, which a store without key order returns scattered.
///
/// Not generic, because sorting code compiles slowly.
fn sort(rows: &mut [(EntityKey, IfMatch)]) {
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
}

/// Deletes rows of one partition in one transaction. Returns `false` if one of the rows has been changed or deleted in the meantime.
async fn delete_together<S: TableStore>(
    (store, table): (&S, &TableName),
    rows: &[(EntityKey, IfMatch)],
) -> Result<bool> {
    let Some((EntityKey { partition_key, .. }, _)) = rows.first() else { return Ok(true) };
    let operations =
        rows.iter().map(|(key, if_match)| (key.row_key.clone(), OperationKind::Delete(if_match.clone())));
    match converge::submit(store, table, partition_key, operations).await {
        Err(error) if error.is_not_found() || error.is_precondition_failed() => Ok(false),
        submitted => submitted.map(|_| true),
    }
}

#[cfg(test)]
mod tests;
