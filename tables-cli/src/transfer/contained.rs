//! Finds rows of one table that another table lacks, in order to verify a copy against its source.

use std::ops::Bound;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use table_core::key::order;
use table_core::query::{EntityRef, KeyRange, Select, TextRange};
use table_core::{DynTableStore, EntityKey, FromEntity, Query, TableEntity, TableName, TableStore as _};

use crate::failure::Result;
use crate::rows::{Pages, Selected};
use crate::transfer::compare::{Compared, Comparison, is_same};
use crate::transfer::ordered::{Ordered, key_order};

/// When rows are looked up in a range of the other table, at most this many rows are read per row to find. After that, the remaining rows are read by key.
const AROUND: usize = 4;
/// The maximum number of concurrent reads by key.
const CONCURRENCY: usize = 16;

/// Returns the key of the first selected row that another table lacks or stores with different properties. Returns `None` if the other table contains all
/// selected rows.
///
/// If both stores return rows in key order, each table is read once, in parallel. Otherwise, the rows on each page are looked up in the other table: partition by
/// partition in pages, or by key in a partition with many other rows. Keeps one page of each table in memory.
///
/// # Errors
/// Any error from either store.
pub async fn first_not_contained(
    (store, name): (&DynTableStore, &TableName),
    selected: &Selected,
    (other, new): (&DynTableStore, &TableName),
) -> Result<Option<EntityKey>> {
    let pages = Pages::new(store, name, selected.clone());
    // In the other table, rows are selected only by key. A filter on the Timestamp would select different rows there, because each store assigns its own
    // Timestamps.
    let rest = Pages::new(other, new, Query::new(selected.query.keys.clone()));
    if !pages.is_ordered() || !rest.is_ordered() {
        return by_lookups(pages, other, new).await;
    }
    let mut comparison = Comparison::new(Ordered::new(pages)?, Ordered::new(rest)?);
    while let Some(compared) = comparison.next().await? {
        if matches!(compared, Compared::Missing(_) | Compared::Changed { .. }) {
            return Ok(Some(compared.key().clone()));
        }
    }
    Ok(None)
}

async fn by_lookups(
    mut pages: Pages<'_>,
    other: &DynTableStore,
    new: &TableName,
) -> Result<Option<EntityKey>> {
    while let Some(page) = pages.next().await? {
        let entities: table_core::Result<Vec<_>> = page.rows.iter().map(TableEntity::from_entity).collect();
        let mut entities = entities?;
        entities.sort_by(|left, right| key_order(left.key(), right.key()));
        for rows in entities.chunk_by(|left, right| left.key().partition_key == right.key().partition_key) {
            if let Some(key) = first_not_in_partition(rows, other, new).await? {
                return Ok(Some(key));
            }
        }
    }
    Ok(None)
}

/// Returns the key of the first of these rows that the other table lacks or stores with different properties. All rows must be in one partition and in key
/// order.
async fn first_not_in_partition(
    rows: &[TableEntity],
    other: &DynTableStore,
    new: &TableName,
) -> Result<Option<EntityKey>> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(None) };
    let [lower, upper] = [first, last].map(|row| row.key().row_key.as_str().to_owned());
    let range = TextRange { lower: Bound::Included(lower), upper: Bound::Included(upper) };
    let keys = KeyRange::rows(first.key().partition_key.as_str(), range);
    let mut found = vec![false; rows.len()];
    let mut pages = Pages::new(other, new, Query::new(keys));
    let mut read = 0;
    // A store without key order returns all rows of the partition for each page of the source, so a large partition would be read many times.
    while read < rows.len().saturating_mul(AROUND) {
        let Some(page) = pages.next().await? else { return Ok(first_not(rows, &found)) };
        read += page.rows.len().max(1);
        for entity in page.rows.iter() {
            let place =
                rows.binary_search_by(|row| order::compare(row.key().row_key.as_str(), entity.row_key));
            if let Ok(at) = place
                && let (Some(row), Some(found)) = (rows.get(at), found.get_mut(at))
            {
                *found = is_same(row, &TableEntity::from_entity(entity)?);
            }
        }
    }
    let rest = (0..rows.len()).zip(rows).zip(&found).filter(|(_, found)| !**found);
    let lookups = rest.map(|((at, row), _)| async move {
        Ok::<_, table_core::Error>((at, is_stored(row, other, new).await?))
    });
    let lookups: Vec<_> = stream::iter(lookups).buffered(CONCURRENCY).try_collect().await?;
    for (at, is_stored) in lookups {
        if let Some(found) = found.get_mut(at) {
            *found = is_stored;
        }
    }
    Ok(first_not(rows, &found))
}

/// Returns the key of the first row that was not found.
fn first_not(rows: &[TableEntity], found: &[bool]) -> Option<EntityKey> {
    rows.iter().zip(found).find(|(_, found)| !**found).map(|(row, _)| row.key().clone())
}

/// Returns `true` if another table contains a row with the same properties.
async fn is_stored(row: &TableEntity, other: &DynTableStore, new: &TableName) -> table_core::Result<bool> {
    let key = row.key();
    let Some(stored) = other.get(new, key, &Select::All).await? else { return Ok(false) };
    let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), stored.row.view());
    Ok(is_same(row, &TableEntity::from_entity(entity)?))
}

#[cfg(test)]
mod tests;
