//! Compares a transfer with the wide entities and sequences in its target, before any row is written. Refuses a transfer that would mix parts of different
//! writes, or rewind a sequence.

use table_core::query::{EntityRef, KeyRange, Select};
use table_core::{DynTableStore, EntityKey, Query, TableName};
use table_inspect::derived::part_of;
use table_patterns::wide::WRITE_ID;

use crate::failure::{Failure, Result};
use crate::rows::{Pages, Selected};
use crate::transfer::change::Mode;
use crate::transfer::compare::{Compared, Comparison};
use crate::transfer::ordered::{Ordered, OrderedEntities};
use crate::transfer::sequences::{self, IS_SEQUENCE, is_sequence, refuse_lowered};

/// A filter that selects all rows with a `WriteId` property.
const HAS_WRITE: &str = "WriteId ge guid'00000000-0000-0000-0000-000000000000'";

/// Returns a query for all rows in a key range that have a `WriteId` property.
fn query(keys: KeyRange) -> Result<Query> {
    let select = Select::names(["PartitionKey", "RowKey", WRITE_ID]);
    Ok(Query { keys, select, ..Query::parse(HAS_WRITE)? })
}

/// Returns the query for target rows that a transfer could make inconsistent: parts of wide entities, and sequences.
fn guarded() -> Result<Query> {
    let select = Select::names(["PartitionKey", "RowKey", WRITE_ID, sequences::NEXT]);
    Ok(Query { select, ..Query::parse(&format!("{HAS_WRITE} or {IS_SEQUENCE}"))? })
}

/// The wide entities for which the source contains a part from a different write. An entity is removed once no more of its parts can follow in key order.
#[derive(Debug, Default)]
struct Replaced(Vec<EntityKey>);

impl Replaced {
    fn add(&mut self, whole: EntityKey, is_replaced: bool) {
        if !is_replaced || self.0.contains(&whole) {
            return;
        }
        let can_follow = |earlier: &EntityKey| {
            let is_within = whole.row_key.as_str().starts_with(earlier.row_key.as_str());
            earlier.partition_key == whole.partition_key && is_within
        };
        self.0.retain(can_follow);
        self.0.push(whole);
    }
}

/// Returns an error if a transfer would replace only some parts of a wide entity in the target, or rewind a sequence in the target.
///
/// # Errors
/// - `Refused`, with the first such entity or sequence, if one exists.
/// - `Refused` if the target contains parts or sequences and one of the stores does not return rows in key order.
/// - Any error from either store.
pub async fn refuse_mixed_parts<L: OrderedEntities>(
    source: impl FnOnce() -> Result<L>,
    (target, table): (&DynTableStore, &TableName),
    mode: Mode,
) -> Result<()> {
    if !is_any(target, table, guarded()?, |row| is_guarded(row.row_key)).await? {
        return Ok(());
    }
    let stored = Ordered::new(Pages::new(target, table, guarded()?))?;
    let mut comparison = Comparison::new(source()?, stored);
    let mut replaced = Replaced::default();
    while let Some(compared) = comparison.next().await? {
        if let Compared::Changed { source, target } = &compared {
            refuse_lowered(target, source, mode)?;
        }
        let key = compared.key();
        let Some((base, _)) = part_of(key.row_key.as_str()) else { continue };
        let whole = EntityKey::new(key.partition_key.as_str(), base)?;
        let is_mixed = match &compared {
            Compared::Same(_) => false,
            Compared::Missing(row) => {
                replaced.add(whole.clone(), row.get(WRITE_ID).is_some());
                false
            }
            Compared::Changed { source, target } => match (source.get(WRITE_ID), target.get(WRITE_ID)) {
                (None, _) => mode != Mode::Merge,
                (own, other) => {
                    replaced.add(whole.clone(), own != other);
                    false
                }
            },
            Compared::Extra(_) => replaced.0.contains(&whole),
        };
        if is_mixed {
            let (partition, base) = (whole.partition_key.as_str(), whole.row_key.as_str());
            return Err(Failure::Refused(format!(
                "table {table} stores the wide entity ('{partition}', '{base}'), of which some parts would be replaced and others kept; use \
                 `tables sync`, or pass `--bypass-derived`"
            )));
        }
    }
    Ok(())
}

/// Returns `true` if a selection contains a part of a wide entity.
///
/// # Errors
/// Any error from the store.
pub async fn has_parts(store: &DynTableStore, table: &TableName, selected: &Selected) -> Result<bool> {
    let mut own = query(selected.query.keys.clone())?;
    own.filter = match (own.filter, selected.query.filter.clone()) {
        (Some(own), Some(selected)) => Some(own.and(selected)),
        (own, selected) => own.or(selected),
    };
    is_any(store, table, Selected { query: own, ..selected.clone() }, |row| part_of(row.row_key).is_some())
        .await
}

fn is_guarded(row_key: &str) -> bool {
    part_of(row_key).is_some() || is_sequence(row_key)
}

/// Returns `true` if any row returned by a query satisfies a condition. Returns `false` if the table does not exist.
async fn is_any(
    store: &DynTableStore,
    table: &TableName,
    rows: impl Into<Selected>,
    condition: impl Fn(&EntityRef<'_>) -> bool,
) -> Result<bool> {
    let mut pages = Pages::new(store, table, rows).if_exists();
    while let Some(page) = pages.next().await? {
        if page.rows.iter().any(|row| condition(&row)) {
            return Ok(true);
        }
    }
    Ok(false)
}
