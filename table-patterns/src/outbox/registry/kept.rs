//! Keeps a partition active until a given time, even if no writer registers it again. [Grants](crate::grant) need this: the bearer of a grant may write to the
//! partition, but its credential does not permit it to register the partition.
//!
//! The registration of the partition contains this time. A shorter grant does not change the time of an earlier grant.

use table_core::Result;
use table_core::etag::IfMatch;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::retry::Retry;
use table_core::store::TableStore;

use crate::outbox::registry::entry::{active_until, is_erased, registration};
use crate::outbox::registry::{REGISTRY, change_row, key_of, renew};

/// Registers a partition, and ensures that sweeps read it at least until the given time, in ticks.
///
/// The write is conditional on the registration's `ETag`. It therefore does not shorten a concurrent grant, and removes the mark of a concurrent erasure.
pub(crate) async fn keep<S: TableStore>(
    (store, retry): (&S, &Retry),
    table: &TableName,
    partition_key: &PartitionKey,
    until: u64,
) -> Result<()> {
    let (registry, key) = (TableName::new(REGISTRY)?, key_of(table, partition_key)?);
    let mut race = retry.start("the registration of a partition");
    renew(store, table, partition_key).await?;
    loop {
        match store.get(&registry, &key, &Select::All).await? {
            Some(found) => {
                let row = found.row.view();
                if active_until(row) >= until && !is_erased(row) {
                    return Ok(());
                }
                let row = registration(table, Some(until.max(active_until(row))));
                if change_row(store, &key, OperationKind::Merge(row, IfMatch::ETag(found.etag))).await? {
                    return Ok(());
                }
            }
            // A sweep has removed the registration after an erasure.
            None => renew(store, table, partition_key).await?,
        }
        race.retry(None).await.map_err(|error| error.with_table(table.as_str()))?;
    }
}

#[cfg(test)]
mod tests;
