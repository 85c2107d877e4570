//! Rows that record which older programs may still be writing. They are stored in the same partition as the schema.
//!
//! Each row's Timestamp is set by the store's clock, and shows when an older program last checked whether it may write. A program that cannot read the stored
//! schema has another kind of row, a grant. It contains the time until which the program may write.

use table_store::{Error, Result, ValueRef};

use crate::etag::IfMatch;
use crate::key::{EntityKey, PartitionKey, RowKey};
use crate::name::TableName;
use crate::operation::OperationKind;
use crate::query::{KeyRange, Query, Select, TextRange};
use crate::retry::Retry;
use crate::row::{RowView, RowWriter};
use crate::schema::Fingerprint;
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::layout::record;
use crate::table::request;

/// The store's time, and the last time a program with an older schema recorded that it was running.
///
/// ```
/// use table_core::table::Sightings;
///
/// /// Returns `true` if an older program was seen within the last hour.
/// fn is_rolling_out(seen: &Sightings) -> bool {
///     seen.older.is_some_and(|older| seen.now.saturating_sub(older) < 3_600 * 10_000_000)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sightings {
    /// The store's time, in [ticks](crate::ticks).
    pub now: u64,
    /// The last time an older program recorded that it was running, read after `now`. If a grant to a program with a different schema expires later, this is
    /// the latest expiry. `None` if neither exists.
    pub older: Option<u64>,
}

/// The first word in the RowKey of the row that older programs write.
const OLDER: &str = "older";
/// The first word in the RowKey of the clock row. This row is written to obtain the store's time, which is the row's Timestamp.
const CLOCK: &str = "clock";
/// The first word in the RowKey of each row that records a grant. The entity type and the fingerprint of the schema follow it.
const GRANTED: &str = "granted";
/// The property that stores a grant's expiry, in ticks.
const EXPIRY: &str = "Expiry";

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

/// Records that a program with an older schema is still running.
pub(super) async fn leave<S: TableStore>(store: &S, table: &TableName, entity: &str) -> Result<()> {
    write(store, &key(table, OLDER, entity)?).await
}

/// Grants programs with the given schema permission to write until the given time, without reading the stored schema. If a later time is already recorded, it
/// is kept.
pub(super) async fn grant<S: TableStore>(
    (store, retry): (&S, &Retry),
    table: &TableName,
    (entity, schema): (&str, Fingerprint),
    expiry: u64,
) -> Result<()> {
    let key = key(table, GRANTED, &format!("{entity} {schema}"))?;
    let mut writer = RowWriter::with_capacity(1);
    writer.property(EXPIRY, ValueRef::Int64(i64::try_from(expiry).unwrap_or(i64::MAX)));
    let row = writer.finish();
    let mut race = retry.start("the grants of a schema");
    loop {
        let kind = match request::get(store, &record::table()?, &key, &Select::All).await? {
            Some(found) if expiry_in(found.row.view()) >= Some(expiry) => return Ok(()),
            Some(found) => OperationKind::Replace(row.clone(), IfMatch::ETag(found.etag)),
            None => OperationKind::Insert(row.clone()),
        };
        match request::write(store, &record::table()?, key.clone(), kind).await {
            Err(error) if error.is_conflict() => race.retry(error).await?,
            written => return written.map(drop),
        }
    }
}

/// Returns `true` if the `RowKey` belongs to a row that records a running program or a grant.
pub(super) fn is_of_program(row_key: &str) -> bool {
    let word = row_key.strip_prefix('\u{FFFC}').and_then(|text| text.split_once(' '));
    word.is_some_and(|(word, _)| [OLDER, GRANTED].contains(&word))
}

fn expiry_in(row: RowView<'_>) -> Option<u64> {
    match row.find(EXPIRY, &mut 0) {
        Ok(Some(ValueRef::Int64(expiry))) => u64::try_from(expiry).ok(),
        _ => None,
    }
}

/// Returns the latest expiry among grants to programs with a different schema of the entity type.
async fn granted<S: TableStore>(
    store: &S,
    table: &TableName,
    (entity, own): (&str, Fingerprint),
) -> Result<Option<u64>> {
    let prefix = key(table, GRANTED, &format!("{entity} "))?;
    let own = key(table, GRANTED, &format!("{entity} {own}"))?;
    let rows = KeyRange::rows(table.folded(), TextRange::prefix(prefix.row_key.as_str()));
    let (mut last, mut from) = (None, None);
    loop {
        let page = store.query(&record::table()?, &Query::new(rows.clone()), from.as_ref()).await?;
        let others = page.rows.iter().filter(|row| row.row_key != own.row_key.as_str());
        last = others.filter_map(|row| expiry_in(row.row)).chain(last).max();
        from = page.continuation;
        if from.is_none() {
            return Ok(last);
        }
    }
}

/// Returns the store's time, and the last time an older program recorded that it was running. If a grant to a program with a different schema expires later
/// than that, the latest expiry is returned instead.
pub(super) async fn read<S: TableStore>(
    store: &S,
    table: &TableName,
    (entity, own): (&str, Fingerprint),
) -> Result<Sightings> {
    let clock = key(table, CLOCK, entity)?;
    write(store, &clock).await?;
    let now = timestamp(store, &clock).await?;
    let now = now.ok_or_else(|| Error::of(TableFault::NoLayout).with_table(table.as_str()))?;
    let seen = timestamp(store, &key(table, OLDER, entity)?).await?;
    Ok(Sightings { now, older: seen.max(granted(store, table, (entity, own)).await?) })
}
