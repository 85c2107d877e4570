//! Wide entities: the rows of one entity belong to the same write.
//!
//! A write of several parts sets a new `WriteId` in all of them. No schema is needed: the parts of an entity are the rows that have the property
//! `WriteId`, and whose row keys end in `_01`, `_02` and so on.

use table_core::query::{EntityRef, KeyRange, Select, TextRange};
use table_core::{DynTableStore, EntityKey, Query, TableName, ValueRef};
use table_patterns::wide::WRITE_ID;
use uuid::Uuid;

use crate::failure::Result;
use crate::rows::Pages;

/// The number of times that the parts of an entity are read again, because a program may write them at the same time.
const ATTEMPTS: usize = 3;

/// A defect of a wide entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WideFinding {
    /// The key of the whole entity.
    pub key: EntityKey,
    /// The first part that is wrong, counted from 1.
    pub part: usize,
    /// `true` if the part does not exist, although a later one does; `false` if it belongs to another write than the first part.
    pub is_missing: bool,
}

/// The parts of one entity that were read so far.
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

/// Checks all wide entities of a table in one pass over its keys, and calls `found` for each that is incomplete or mixed. Returns the number of wide
/// entities. Memory holds one page.
///
/// # Errors
/// Any error from the store or `found`.
pub async fn check_wide(
    store: &DynTableStore,
    table: &TableName,
    mut found: impl AsyncFnMut(WideFinding) -> Result<()>,
) -> Result<u64> {
    let mut pages = Pages::new(store, table, query(KeyRange::ALL));
    // Rows between the parts of one entity can be those of another, such as `2014_01_01` between `2014_01` and `2014_02`.
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

/// Returns `true` if a row, or a later one, can be a part of an entity.
fn can_follow((partition, base): &(String, String), entity: EntityRef<'_>) -> bool {
    let rest = entity.row_key.strip_prefix(base.as_str()).and_then(|rest| rest.strip_prefix('_'));
    entity.partition_key == partition && rest.is_some()
}

/// Adds a row to the entity that it is a part of. Returns `true` if it is the first one of its entity.
fn add(open: &mut Vec<Parts>, entity: EntityRef<'_>) -> Result<bool> {
    let Some((base, part)) = part_of(entity.row_key) else { return Ok(false) };
    let Some(ValueRef::Guid(write)) = entity.row.find(WRITE_ID, &mut 0)? else { return Ok(false) };
    if let Some(parts) = open.iter_mut().find(|parts| parts.key.1 == base) {
        parts.add(part, write);
        return Ok(false);
    }
    open.push(Parts::new((entity.partition_key.to_owned(), base.to_owned()), part, write));
    Ok(true)
}

/// Returns the RowKey of the whole entity and the number of the part.
fn part_of(row_key: &str) -> Option<(&str, usize)> {
    let (base, number) = row_key.rsplit_once('_')?;
    let is_number = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    let part = number.parse().ok().filter(|_| is_number)?;
    Some((base, part))
}

/// Reports an entity that has a defect, unless it has none when its parts are read again in one query.
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
        let keys = KeyRange::rows(partition.as_str(), TextRange::prefix(&format!("{base}_")));
        let mut pages = Pages::new(store, table, query(keys));
        let mut open: Vec<Parts> = Vec::new();
        while let Some(page) = pages.next().await? {
            for entity in
                page.rows.iter().filter(|entity| part_of(entity.row_key).is_some_and(|(of, _)| of == base))
            {
                add(&mut open, entity)?;
            }
        }
        fault = open.first().and_then(|parts| parts.fault);
    }
    match fault {
        Some((part, is_missing)) => {
            found(WideFinding { key: EntityKey::new(partition.as_str(), base.as_str())?, part, is_missing })
                .await
        }
        None => Ok(()),
    }
}
