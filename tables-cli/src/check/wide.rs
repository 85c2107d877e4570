//! Checks wide entities, which are stored in several rows. All rows of an entity must come from the same write.
//!
//! A write to a wide entity sets a new `WriteId` in all rows of the entity, called its parts. The check needs no schema: parts are the rows with a `WriteId`
//! property and a row key ending in `_01`, `_02` and so on.

use std::collections::BTreeMap;

use table_core::query::{KeyRange, Select, TextRange};
use table_core::{DynTableStore, EntityKey, Query, TableName};
use table_inspect::derived::WidePart;
use table_patterns::wide::WRITE_ID;
use uuid::Uuid;

use crate::failure::{Failure, Result};
use crate::rows::{Pages, Selected};
use crate::transfer::wholes::Wholes;

/// The maximum number of times an entity's parts are reread, because a program may be writing them at the same time.
const ATTEMPTS: usize = 3;

/// A defect in a wide entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WideFinding {
    /// The key of the wide entity.
    pub key: EntityKey,
    /// The number of the first defective part. Numbers start at 1.
    pub part: usize,
    /// `true` if the part is missing although a later part exists, and `false` if the part and the first part are from different writes.
    pub is_missing: bool,
}

/// The numbers of a check of wide entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckedWide {
    /// The number of wide entities.
    pub entities: u64,
    /// The number of rows of the table that the store omitted, because it cannot represent them as entities.
    pub omitted: u64,
}

/// The `WriteId`s of the parts of one entity that have been read so far, keyed by part number.
type Parts = BTreeMap<usize, Uuid>;

/// Returns the first defect in an entity: the part number, and `true` if the part is missing.
fn fault(parts: &Parts) -> Option<(usize, bool)> {
    let first = parts.values().next();
    let faults =
        (1..).zip(parts).map(|(expected, (part, write))| match (*part == expected, Some(write) == first) {
            (false, _) => Some((expected, true)),
            (true, false) => Some((expected, false)),
            (true, true) => None,
        });
    faults.flatten().next()
}

/// Checks all wide entities in a table in one pass over its keys, and calls `found` for each entity that is incomplete or mixes parts from several writes.
/// Keeps one page in memory and, on a store without key order, the `WriteId`s of all parts.
///
/// # Errors
/// Any error from the store or from `found`.
pub async fn check_wide(
    store: &DynTableStore,
    table: &TableName,
    mut found: impl AsyncFnMut(WideFinding) -> Result<()>,
) -> Result<CheckedWide> {
    let mut pages = Pages::new(store, table, query(KeyRange::ALL));
    let (mut open, mut entities) = (Wholes::<Parts>::new(pages.is_ordered()), 0);
    while let Some(page) = pages.next().await? {
        for entity in page.rows.iter() {
            for (key, parts) in open.closed_by(entity)? {
                finish(store, table, (key, parts), &mut found).await?;
            }
            if let Some(WidePart { base, number, write }) = WidePart::of(entity)? {
                let (parts, is_new) = open.entry(entity.partition_key, base);
                parts.insert(number, write);
                entities += u64::from(is_new);
            }
        }
    }
    for (key, parts) in open.into_rest()? {
        finish(store, table, (key, parts), &mut found).await?;
    }
    Ok(CheckedWide { entities, omitted: pages.omitted() })
}

fn query(keys: KeyRange) -> Query {
    Query { select: Select::names(["PartitionKey", "RowKey", WRITE_ID]), ..Query::new(keys) }
}

/// Reports the entity if it is defective. The defect must still be present after all parts of the entity have been reread.
async fn finish(
    store: &DynTableStore,
    table: &TableName,
    (key, parts): (EntityKey, Parts),
    found: &mut impl AsyncFnMut(WideFinding) -> Result<()>,
) -> Result<()> {
    let mut first = fault(&parts);
    for _ in 0..ATTEMPTS {
        if first.is_none() {
            return Ok(());
        }
        first = fault(&read(store, table, &key).await?);
    }
    match first {
        Some((part, is_missing)) => found(WideFinding { key, part, is_missing }).await,
        None => Ok(()),
    }
}

/// Reads all parts of one entity.
async fn read(store: &DynTableStore, table: &TableName, key: &EntityKey) -> Result<Parts> {
    let base = key.row_key.as_str();
    let keys = KeyRange::rows(key.partition_key.as_str(), TextRange::prefix(&format!("{base}_")));
    let mut pages = Pages::new(store, table, query(keys));
    let mut parts = Parts::new();
    while let Some(page) = pages.next().await? {
        for entity in page.rows.iter() {
            if let Some(part) = WidePart::of(entity)?.filter(|part| part.base == base) {
                parts.insert(part.number, part.write);
            }
        }
    }
    Ok(parts)
}

/// Returns an error if a selection contains some parts of a wide entity, but not all of them.
///
/// On a store without key order, keeps the keys of all selected wide entities in memory.
///
/// # Errors
/// `Refused`, with the first such entity, if one exists. Any error from the store.
pub async fn refuse_torn(store: &DynTableStore, table: &TableName, selected: &Selected) -> Result<()> {
    let selected = selected.clone().with_select(query(KeyRange::ALL).select);
    let mut pages = Pages::new(store, table, selected);
    // The number of selected parts of each entity.
    let mut open = Wholes::<usize>::new(pages.is_ordered());
    while let Some(page) = pages.next().await? {
        for entity in page.rows.iter() {
            for (key, count) in open.closed_by(entity)? {
                refuse_some(store, table, (&key, count)).await?;
            }
            if let Some(part) = WidePart::of(entity)? {
                *open.entry(entity.partition_key, part.base).0 += 1;
            }
        }
    }
    for (key, count) in open.into_rest()? {
        refuse_some(store, table, (&key, count)).await?;
    }
    Ok(())
}

async fn refuse_some(
    store: &DynTableStore,
    table: &TableName,
    (key, some): (&EntityKey, usize),
) -> Result<()> {
    let all = read(store, table, key).await?.len();
    if all <= some {
        return Ok(());
    }
    let (partition, base) = (key.partition_key.as_str(), key.row_key.as_str());
    Err(Failure::Refused(format!(
        "the selection has {some} of the {all} parts of the wide entity ('{partition}', '{base}'), which are written together; select all parts, or \
         pass `--bypass-derived`"
    )))
}
