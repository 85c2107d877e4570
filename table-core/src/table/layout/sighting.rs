//! Sightings of older programs: rows next to the stored schema. Their Timestamps show, by the store's clock, when an older program last checked whether it may
//! write.

use crate::error::{Error, Result};
use crate::key::{EntityKey, PartitionKey, RowKey};
use crate::name::TableName;
use crate::operation::OperationKind;
use crate::query::Select;
use crate::row::RowWriter;
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::layout::record;
use crate::table::request;

/// The store's time, and the last sighting of a program with an older schema.
///
/// ```
/// use table_core::table::Sightings;
///
/// /// Returns `true` if an older program was seen within an hour.
/// fn is_rolling_out(seen: &Sightings) -> bool {
///     seen.older.is_some_and(|older| seen.now.saturating_sub(older) < 3_600 * 10_000_000)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sightings {
    /// The store's time, in [ticks](crate::ticks).
    pub now: u64,
    /// The time of the last sighting, which was read after `now`; `None` if no older program was seen.
    pub older: Option<u64>,
}

/// The row that older programs write.
const OLDER: &str = "older";
/// The row that is written to read the store's time.
const CLOCK: &str = "clock";

fn key(table: &TableName, row: &str, entity: &str) -> Result<EntityKey> {
    let row_key = RowKey::new(format!("\u{FFFC}{row} {entity}"))?;
    Ok(EntityKey { partition_key: PartitionKey::new(table.folded())?, row_key })
}

async fn write<S: TableStore>(store: &S, key: &EntityKey) -> Result<()> {
    let kind = OperationKind::InsertOrReplace(RowWriter::with_capacity(0).finish());
    request::write(store, &record::table()?, key.clone(), kind).await.map(drop)
}

async fn timestamp<S: TableStore>(store: &S, key: &EntityKey) -> Result<Option<u64>> {
    let found = request::get(store, &record::table()?, key, &Select::All).await?;
    Ok(found.map(|found| found.row.view().timestamp()))
}

/// Records a sighting of a program with an older schema.
pub(super) async fn leave<S: TableStore>(store: &S, table: &TableName, entity: &str) -> Result<()> {
    write(store, &key(table, OLDER, entity)?).await
}

/// Reads the store's time, then the last sighting.
pub(super) async fn read<S: TableStore>(store: &S, table: &TableName, entity: &str) -> Result<Sightings> {
    let clock = key(table, CLOCK, entity)?;
    write(store, &clock).await?;
    let now = timestamp(store, &clock).await?;
    let now = now.ok_or_else(|| Error::of(TableFault::NoLayout).with_table(table.as_str()))?;
    Ok(Sightings { now, older: timestamp(store, &key(table, OLDER, entity)?).await? })
}
