//! Reads the parts of a wide entity, and checks that they come from the same write.

use std::ops::Bound;

use table_core::etag::ETag;
use table_core::key::{EntityKey, RowKey};
use table_core::name::TableName;
use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::retry::Retry;
use table_core::row::Row;
use table_core::store::TableStore;
use table_core::{Error, Result, property};
use uuid::Uuid;

use crate::paging::every_row;
use crate::wide::fault::WideFault;
use crate::wide::{MOST_PARTS, WRITE_ID};

/// A wide entity's part, as read from the store.
struct Part {
    row: Row,
    etag: ETag,
    write: Option<Uuid>,
}

/// All parts from one write, and their versions.
pub(super) struct Whole {
    pub(super) rows: Vec<Row>,
    pub(super) etags: Vec<ETag>,
}

/// Returns the RowKey of a part. Parts are counted from 0; part 0 has a RowKey such as `2014_01`.
pub(super) fn row_key(key: &EntityKey, part: usize) -> Result<RowKey> {
    RowKey::new(format!("{}_{:02}", key.row_key, part + 1))
}

/// Reads the selected properties and the `WriteId` of all parts of an entity. Returns `None` if no part exists. Repeats the read if the parts come from
/// different writes (PAT-WIDE-3).
pub(super) async fn fetch<S: TableStore>(
    store: &S,
    table: &TableName,
    key: &EntityKey,
    (parts, select): (usize, Select),
    retry: &Retry,
) -> Result<Option<Whole>> {
    let in_place = |error: Error| {
        error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
    };
    let mut before: Option<Vec<Option<Option<Uuid>>>> = None;
    let mut race = retry.start("the wide entity");
    loop {
        let found = read(store, table, key, parts, select.clone()).await?;
        if found.iter().all(Option::is_none) {
            return Ok(None);
        }
        let writes = found.iter().map(|part| part.as_ref().map(|part| part.write)).collect();
        match judge(found) {
            Ok(whole) => return Ok(Some(whole)),
            // Two consecutive reads have found the same parts with the same `WriteId`s. This is therefore the stored state: a write of several parts would have
            // changed the `WriteId`s, and only merges into single parts keep them.
            Err(error) if before.as_ref() == Some(&writes) => return Err(in_place(error)),
            Err(error) => {
                before = Some(writes);
                race.retry(in_place(error)).await.map_err(|error| error.with_rule("PAT-WIDE-3"))?;
            }
        }
    }
}

/// Returns the versions of the stored parts, for a write that replaces all declared parts. The parts may come from different writes. Fails if a program with a
/// newer declaration has stored more parts, because these would keep the old `WriteId`.
pub(super) async fn versions<S: TableStore>(
    store: &S,
    table: &TableName,
    key: &EntityKey,
    parts: usize,
) -> Result<Vec<Option<ETag>>> {
    let found = read(store, table, key, parts, write_ids()).await?;
    Ok(found.into_iter().map(|part| part.map(|part| part.etag)).collect())
}

/// Returns a selection of the `WriteId` alone. It is sufficient to check that the parts come from the same write.
pub(super) fn write_ids() -> Select {
    Select::names([WRITE_ID])
}

/// Reads the current parts with one range query.
async fn read<S: TableStore>(
    store: &S,
    table: &TableName,
    key: &EntityKey,
    parts: usize,
    select: Select,
) -> Result<Vec<Option<Part>>> {
    let bound = |part| row_key(key, part).map(|key| Bound::Included(key.to_string()));
    // The query covers all possible part numbers, so an undeclared part is found too.
    let rows = TextRange { lower: bound(0)?, upper: bound(MOST_PARTS - 1)? };
    let query = Query { select, ..Query::new(KeyRange::rows(key.partition_key.as_str(), rows)) };
    let mut found: Vec<Option<Part>> = (0..parts).map(|_| None).collect();
    // Without the parts that the store cannot represent, the entity would seem not to exist.
    let is_part = |row: &EntityKey| part_of(key, row.row_key.as_str()).is_some();
    let skipped = every_row(store, table, &query, is_part, |entity| {
        // Rows of other entities, such as `2014_01_07`, can lie between the parts.
        let Some(at) = part_of(key, entity.row_key) else { return Ok(()) };
        let write = property::read::<Option<Uuid>>(entity.row, WRITE_ID, &mut 0).map_err(|error| {
            error.with_table(table.as_str()).with_key(entity.partition_key, entity.row_key)
        })?;
        let part = Part { row: entity.row.to_row(), etag: entity.etag(), write };
        match found.get_mut(at) {
            Some(place) => *place = Some(part),
            None if part.write.is_some() => {
                let error = extra_part(at, parts).with_table(table.as_str());
                return Err(error.with_key(key.partition_key.as_str(), key.row_key.as_str()));
            }
            None => {}
        }
        Ok(())
    })
    .await?;
    if skipped > 0 && found.iter().any(Option::is_none) {
        let error = Error::of(WideFault::Omitted).with_table(table.as_str());
        return Err(error.with_key(key.partition_key.as_str(), key.row_key.as_str()));
    }
    Ok(found)
}

/// Returns a row's part number, counted from 0. Returns `None` if the row is not a part.
fn part_of(key: &EntityKey, row_key: &str) -> Option<usize> {
    let number = row_key.strip_prefix(key.row_key.as_str())?.strip_prefix('_')?;
    let is_number = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse::<usize>().ok().filter(|_| is_number)?.checked_sub(1)
}

fn extra_part(at: usize, parts: usize) -> Error {
    Error::of(WideFault::Surplus { part: at + 1, parts })
}

/// Checks that all parts exist and come from the same write. Returns them with their versions.
fn judge(found: Vec<Option<Part>>) -> Result<Whole> {
    let mut whole = Whole { rows: Vec::with_capacity(found.len()), etags: Vec::with_capacity(found.len()) };
    let mut first = None;
    for (number, part) in (1..).zip(found) {
        let Some(part) = part else { return Err(Error::of(WideFault::Missing(number))) };
        let Some(write) = part.write else { return Err(Error::of(WideFault::NoWriteId(number))) };
        if *first.get_or_insert(write) != write {
            return Err(Error::of(WideFault::OtherWrite(number)));
        }
        whole.rows.push(part.row);
        whole.etags.push(part.etag);
    }
    Ok(whole)
}
