//! Parts of wide entities in the target of a transfer. Rows that would mix parts of different writes are refused.

use std::collections::HashMap;
use std::ops::Bound;

use table_core::key::order;
use table_core::query::{KeyRange, Select, TextRange};
use table_core::{DynTableStore, EntityKey, Query, TableEntity, TableName, Value};
use table_inspect::derived::{part_of, refuse_torn_part};
use table_patterns::wide::WRITE_ID;

use crate::failure::{Failure, Result};
use crate::rows::Pages;
use crate::transfer::change::Mode;
use crate::transfer::compare::{Compared, Comparison};
use crate::transfer::ordered::{Entities, Ordered, OrderedEntities, Paged};

/// A condition that every row with a `WriteId` satisfies.
const HAS_WRITE: &str = "WriteId ge guid'00000000-0000-0000-0000-000000000000'";

/// Returns the query of the rows with a `WriteId` in a range of keys.
fn query(keys: KeyRange) -> Result<Query> {
    let select = Select::names(["PartitionKey", "RowKey", WRITE_ID]);
    Ok(Query { keys, select, ..Query::parse(HAS_WRITE)? })
}

/// The stored parts of the wide entities to which some rows of one partition belong.
#[derive(Debug, Default)]
pub(super) struct StoredParts(HashMap<String, TableEntity>);

impl StoredParts {
    /// Reads the stored parts; no request is sent if no row can be a part.
    pub(super) async fn read<'a>(
        store: &DynTableStore,
        table: &TableName,
        rows: impl Iterator<Item = &'a TableEntity>,
    ) -> Result<Self> {
        let (mut ends, mut partition): (Option<(String, String)>, &str) = (None, "");
        for row in rows {
            let Some((base, _)) = part_of(row.key().row_key.as_str()) else { continue };
            partition = row.key().partition_key.as_str();
            let own = (format!("{base}_"), format!("{base}_99"));
            ends = Some(match ends {
                None => own,
                Some((lower, upper)) => (min(lower, own.0), max(upper, own.1)),
            });
        }
        let Some((lower, upper)) = ends else { return Ok(Self::default()) };
        let range = TextRange { lower: Bound::Included(lower), upper: Bound::Included(upper) };
        let mut rows = Paged::new(Pages::new(store, table, query(KeyRange::rows(partition, range))?));
        let mut found = HashMap::new();
        while let Some(row) = rows.next().await? {
            found.insert(row.key().row_key.as_str().to_owned(), row);
        }
        Ok(Self(found))
    }

    /// Refuses a row that is a part of another write than the stored parts of its entity.
    pub(super) fn admit(&self, row: &TableEntity, mode: Mode) -> Result<()> {
        let row_key = row.key().row_key.as_str();
        let Some((base, _)) = part_of(row_key).filter(|_| !self.0.is_empty()) else { return Ok(()) };
        let own = self.0.get(row_key);
        let has_write = matches!(row.get(WRITE_ID), Some(Value::Guid(_)));
        if !has_write && (own.is_none() || mode == Mode::Merge) {
            return Ok(());
        }
        // An entity has at most 99 parts.
        let siblings = (1..=99).filter_map(|number| self.0.get(&format!("{base}_{number:02}")));
        for stored in own.into_iter().chain(siblings.filter(|_| has_write)) {
            refuse_torn_part(stored, row, false)?;
        }
        Ok(())
    }
}

fn min(left: String, right: String) -> String {
    if order::compare(&left, &right).is_le() { left } else { right }
}

fn max(left: String, right: String) -> String {
    if order::compare(&left, &right).is_ge() { left } else { right }
}

/// The entities of which the source has a part of another write. Only those remain of which more parts can follow in key order.
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

/// Refuses a transfer of all rows that would replace some parts of a wide entity of the target, and keep others.
///
/// # Errors
/// `Refused` with the first such entity, and for a source or target without key order if the target has wide entities; any error from either store.
pub async fn refuse_mixed_parts<L: OrderedEntities>(
    source: impl FnOnce() -> Result<L>,
    (target, table): (&DynTableStore, &TableName),
    mode: Mode,
) -> Result<()> {
    match has_parts(target, table, &Query::new(KeyRange::ALL)).await {
        Ok(true) => {}
        Ok(false) => return Ok(()),
        Err(Failure::Store(error)) if error.is_table_not_found() => return Ok(()),
        Err(error) => return Err(error),
    }
    let stored = Ordered::new(Pages::new(target, table, query(KeyRange::ALL)?))?;
    let mut comparison = Comparison::new(source()?, stored);
    let mut replaced = Replaced::default();
    while let Some(compared) = comparison.next().await? {
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
pub async fn has_parts(store: &DynTableStore, table: &TableName, selected: &Query) -> Result<bool> {
    let mut own = query(selected.keys.clone())?;
    own.filter = match (own.filter, selected.filter.clone()) {
        (Some(own), Some(selected)) => Some(own.and(selected)),
        (own, selected) => own.or(selected),
    };
    let mut pages = Pages::new(store, table, own);
    while let Some(page) = pages.next().await? {
        if page.rows.iter().any(|row| part_of(row.row_key).is_some()) {
            return Ok(true);
        }
    }
    Ok(false)
}
