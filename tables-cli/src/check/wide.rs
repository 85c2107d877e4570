//! Checks wide entities, which are entities stored in several rows. All rows of an entity must be from the same write.
//!
//! A write to a wide entity sets a new `WriteId` in all rows of the entity, which are called its parts. The check needs no schema: the parts of an entity are
//! the rows that have a `WriteId` property and whose row keys end in `_01`, `_02` and so on.

use table_core::query::{EntityRef, KeyRange, Select, TextRange};
use table_core::{DynTableStore, EntityKey, Query, TableName};
use table_inspect::derived::{WidePart, part_of};
use table_patterns::wide::WRITE_ID;
use uuid::Uuid;

use crate::failure::{Failure, Result};
use crate::rows::{Pages, Selected};

/// The maximum number of times that the parts of an entity are read, because a program may be writing them at the same time.
const ATTEMPTS: usize = 3;

/// A defect of a wide entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WideFinding {
    /// The key of the wide entity.
    pub key: EntityKey,
    /// The number of the first wrong part, counted from 1.
    pub part: usize,
    /// `true` if the part is missing although a later part exists, and `false` if the part and the first part are from different writes.
    pub is_missing: bool,
}

/// A summary of the parts of one entity that have been read so far.
#[derive(Clone, Debug)]
struct Parts {
    key: (String, String),
    first: Uuid,
    count: usize,
    /// The first defect: the number of the part, and `true` if it is missing.
    fault: Option<(usize, bool)>,
}

impl Parts {
    fn new(key: (String, String), part: usize, write: Uuid) -> Self {
        Self { key, first: write, count: 1, fault: (part != 1).then_some((1, true)) }
    }

    fn add(&mut self, part: usize, write: Uuid) {
        self.count += 1;
        let fault = match (part == self.count, write == self.first) {
            (false, _) => Some((self.count, true)),
            (true, false) => Some((part, false)),
            (true, true) => None,
        };
        self.fault = self.fault.or(fault);
    }
}

/// Checks all wide entities in a table in one pass over its keys, and calls `found` for each entity that is incomplete or contains parts of several writes.
/// Returns the number of wide entities. Keeps one page in memory.
///
/// # Errors
/// Any error from the store or from `found`.
pub async fn check_wide(
    store: &DynTableStore,
    table: &TableName,
    mut found: impl AsyncFnMut(WideFinding) -> Result<()>,
) -> Result<u64> {
    let mut pages = Pages::new(store, table, query(KeyRange::ALL));
    // The rows of another entity may be between the parts of an entity. For example, `2014_01_01` is between `2014_01` and `2014_02`.
    let (mut open, mut entities): (Vec<Parts>, u64) = (Vec::new(), 0);
    while let Some(page) = pages.next().await? {
        for entity in page.rows.iter() {
            let mut closed = Vec::new();
            open.retain(|parts| {
                let is_open = can_follow(&parts.key, entity);
                if !is_open {
                    closed.push(parts.clone());
                }
                is_open
            });
            for parts in closed {
                finish(store, table, &parts, &mut found).await?;
            }
            entities += u64::from(add(&mut open, entity)?);
        }
    }
    for parts in &open {
        finish(store, table, parts, &mut found).await?;
    }
    Ok(entities)
}

fn query(keys: KeyRange) -> Query {
    Query { select: Select::names(["PartitionKey", "RowKey", WRITE_ID]), ..Query::new(keys) }
}

/// Returns `true` if this row, or a row after it, can be a part of the given entity.
fn can_follow((partition, base): &(String, String), entity: EntityRef<'_>) -> bool {
    let rest = entity.row_key.strip_prefix(base.as_str()).and_then(|rest| rest.strip_prefix('_'));
    entity.partition_key == partition && rest.is_some()
}

/// Adds a part to its entity. Returns `true` if the row is the first part that was found of an entity.
fn add(open: &mut Vec<Parts>, entity: EntityRef<'_>) -> Result<bool> {
    let Some(WidePart { base, number, write }) = WidePart::of(entity)? else { return Ok(false) };
    let is_same = |parts: &&mut Parts| parts.key.0 == entity.partition_key && parts.key.1 == base;
    if let Some(parts) = open.iter_mut().find(is_same) {
        parts.add(number, write);
        return Ok(false);
    }
    open.push(Parts::new((entity.partition_key.to_owned(), base.to_owned()), number, write));
    Ok(true)
}

/// Reports the entity if it is defective. The defect must still be present when all parts of the entity are read again.
async fn finish(
    store: &DynTableStore,
    table: &TableName,
    parts: &Parts,
    found: &mut impl AsyncFnMut(WideFinding) -> Result<()>,
) -> Result<()> {
    let (mut fault, (partition, base)) = (parts.fault, &parts.key);
    for _ in 0..ATTEMPTS {
        if fault.is_none() {
            return Ok(());
        }
        fault = read(store, table, &parts.key).await?.and_then(|parts| parts.fault);
    }
    match fault {
        Some((part, is_missing)) => {
            found(WideFinding { key: EntityKey::new(partition.as_str(), base.as_str())?, part, is_missing })
                .await
        }
        None => Ok(()),
    }
}

/// Reads all parts of one entity. Returns `None` if the entity has no parts.
async fn read(
    store: &DynTableStore,
    table: &TableName,
    (partition, base): &(String, String),
) -> Result<Option<Parts>> {
    let keys = KeyRange::rows(partition.as_str(), TextRange::prefix(&format!("{base}_")));
    let mut pages = Pages::new(store, table, query(keys));
    let mut open: Vec<Parts> = Vec::new();
    while let Some(page) = pages.next().await? {
        for entity in page.rows.iter() {
            if part_of(entity.row_key).is_some_and(|(of, _)| of == base) {
                add(&mut open, entity)?;
            }
        }
    }
    Ok(open.into_iter().next())
}

/// Returns an error if a selection contains some parts of a wide entity, but not all of them.
///
/// # Errors
/// `Refused`, with the first such entity, if one exists. Any error from the store.
pub async fn refuse_torn(store: &DynTableStore, table: &TableName, selected: &Selected) -> Result<()> {
    let selected = selected.clone().with_select(query(KeyRange::ALL).select);
    let mut pages = Pages::new(store, table, selected);
    let mut open: Vec<Parts> = Vec::new();
    while let Some(page) = pages.next().await? {
        for entity in page.rows.iter() {
            while let Some(at) = open.iter().position(|parts| !can_follow(&parts.key, entity)) {
                refuse_some(store, table, &open.swap_remove(at)).await?;
            }
            add(&mut open, entity)?;
        }
    }
    for parts in &open {
        refuse_some(store, table, parts).await?;
    }
    Ok(())
}

async fn refuse_some(store: &DynTableStore, table: &TableName, selected: &Parts) -> Result<()> {
    let all = read(store, table, &selected.key).await?.map_or(0, |parts| parts.count);
    if all <= selected.count {
        return Ok(());
    }
    let ((partition, base), some) = (&selected.key, selected.count);
    Err(Failure::Refused(format!(
        "the selection has {some} of the {all} parts of the wide entity ('{partition}', '{base}'), which are written together; select all parts, or \
         pass `--bypass-derived`"
    )))
}
