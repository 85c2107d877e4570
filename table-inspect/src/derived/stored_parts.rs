//! Reads the stored parts of wide entities.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use table_core::key::order;
use table_core::query::{KeyRange, Select, TextRange};
use table_core::{DynTableStore, FromEntity, PartitionKey, Query, TableEntity, TableName, TableStore};

use crate::derived::part::{WRITE_ID, WidePart, part_of};
use crate::error::Result;

/// A filter for all rows with a `WriteId`.
const HAS_WRITE: &str = "WriteId ge guid'00000000-0000-0000-0000-000000000000'";

/// Returns one `RowKey` range for each wide entity to which rows with these `RowKey`s may belong. The ranges are sorted by lower bound. A range covers all
/// parts of its entity.
fn ranges(row_keys: &[&str]) -> Vec<(String, String)> {
    let bases: BTreeSet<_> = row_keys.iter().filter_map(|row_key| Some(part_of(row_key)?.0)).collect();
    let range = |base: &str| (format!("{base}_"), format!("{base}_99"));
    let mut ranges: Vec<_> = bases.into_iter().map(range).collect();
    ranges.sort_by(|(one, _), (other, _)| order::compare(one, other));
    ranges
}

/// Reads the stored parts of all wide entities to which rows with these `RowKey`s may belong. Each part has its `WriteId` and ETag.
///
/// The result may also contain parts of other wide entities. If none of the rows can be a part, no request is sent. A missing table has no parts.
///
/// On a store with key order, one query covers all remaining ranges. It is abandoned after an empty page, and after a page that ends before the next unread
/// range. A new query then starts at that range. The number of pages is therefore at most twice the number of ranges, plus the pages within the ranges, however
/// many rows are between them.
///
/// ```
/// use table_core::{BlockOn, DynTableStore, Engine, PartitionKey, TableEntity, TableName, TableStoreExt, Value};
/// use table_inspect::derived::stored_parts;
///
/// # async {
/// let engine = Engine::in_memory();
/// let counts = engine.untyped("Counts")?.create_if_missing().await?;
/// let part = TableEntity::new("000123", "2014_01")?.with("WriteId", Value::Guid(uuid::Uuid::from_u128(7)));
/// counts.insert(&part).await?;
/// let (store, table) = (DynTableStore::new(engine), TableName::new("Counts")?);
/// let found = stored_parts(&store, &table, &PartitionKey::new("000123")?, &["2014_02"]).await?;
/// assert_eq!(found[0].key(), part.key());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }.block_on().unwrap();
/// ```
///
/// # Errors
/// Any error from the store.
pub async fn stored_parts(
    store: &DynTableStore,
    table: &TableName,
    partition_key: &PartitionKey,
    row_keys: &[&str],
) -> Result<Vec<TableEntity>> {
    // A map removes duplicates, because two queries can read the same part.
    let (mut stored, mut ranges) = (BTreeMap::new(), ranges(row_keys));
    let is_ordered = store.capabilities().ordered;
    let most = ranges.iter().map(|(_, upper)| upper).max_by(|one, other| order::compare(one, other)).cloned();
    // `false` while a query covers only one range. This is the case on unordered stores, and after an empty page.
    let mut covers_rest = is_ordered;
    while let Some((lower, own)) = ranges.first().cloned() {
        let upper = most.clone().filter(|_| covers_rest).unwrap_or(own);
        let range = TextRange { lower: Bound::Included(lower), upper: Bound::Included(upper.clone()) };
        let keys = KeyRange::rows(partition_key.as_str(), range);
        let select = Select::names(["PartitionKey", "RowKey", WRITE_ID]);
        let (query, mut from) = (Query { keys, select, ..Query::parse(HAS_WRITE)? }, None);
        loop {
            let page = match store.query(table, &query, from.as_ref()).await {
                Err(error) if error.is_table_not_found() => return Ok(Vec::new()),
                page => page?,
            };
            for entity in page.rows.iter() {
                if WidePart::of(entity)?.is_some() {
                    stored.insert(entity.row_key.to_owned(), TableEntity::from_entity(entity)?);
                }
            }
            from = page.continuation;
            let last = page.rows.iter().last().filter(|_| is_ordered).map(|entity| entity.row_key);
            let last = if from.is_none() { Some(upper.as_str()) } else { last };
            if let Some(last) = last {
                ranges.retain(|(_, upper)| order::compare(last, upper).is_lt());
            }
            if from.is_none() {
                covers_rest = is_ordered;
                break;
            }
            let is_within =
                |last| ranges.first().is_some_and(|(lower, _)| order::compare(lower, last).is_le());
            match last {
                // The next range starts after this page, or no range remains.
                Some(last) if covers_rest && !is_within(last) => break,
                // The rows after this empty page may all be between two ranges. The next query therefore covers only one range.
                None if covers_rest => {
                    covers_rest = false;
                    break;
                }
                _ => {}
            }
        }
    }
    Ok(stored.into_values().collect())
}
