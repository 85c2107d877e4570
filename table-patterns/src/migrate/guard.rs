//! Protects the target's sequences and feeds, whose rows contain the last issued number, from being rewound by a copy.

use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::{EntityRef, Select};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::feed::{FEED_HEAD, sets_feed_back};
use crate::migrate::fault::TargetFault;
use crate::sequence::{SEQUENCE_PREFIX, sets_sequence_back};

/// Returns `true` if a row would rewind one of the target's sequences or feeds, because the target has issued later numbers. Reads the target only for rows of
/// sequences and feeds.
///
/// # Errors
/// Any error from the target.
pub(crate) async fn sets_back<T: TableStore>(
    target: &T,
    table: &TableName,
    row: EntityRef<'_>,
) -> Result<bool> {
    if row.row_key != FEED_HEAD && !row.row_key.starts_with(SEQUENCE_PREFIX) {
        return Ok(false);
    }
    let key = EntityKey::new(row.partition_key, row.row_key)?;
    let Some(stored) = target.get(table, &key, &Select::All).await? else { return Ok(false) };
    let stored = stored.row.view();
    Ok(sets_sequence_back(row.row_key, stored, row.row)? || sets_feed_back(row.row_key, stored, row.row)?)
}

/// Returns an error if a row would rewind one of the target's sequences or feeds. Reads the target only for such rows.
///
/// # Errors
/// `InvalidInput` if the target has issued later numbers than the row; any error from the target.
pub(super) async fn refuse_set_back<T: TableStore>(
    target: &T,
    table: &TableName,
    row: EntityRef<'_>,
) -> Result<()> {
    if sets_back(target, table, row).await? {
        let error = Error::of(TargetFault::SetBack).with_table(table.as_str());
        return Err(error.with_key(row.partition_key, row.row_key));
    }
    Ok(())
}
