//! Reads many rows by key. If the store returns rows in key order, adjacent keys are read in pages. All other keys are read by point queries.

use std::ops::Bound;

use table_core::key::{EntityKey, order};
use table_core::name::TableName;
use table_core::query::{EntityRef, KeyRange, Query, Select, TextRange};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::omitted::is_unreadable;
use crate::requests::{self, CONCURRENCY};

/// The minimum number of ascending keys of one partition that are read in pages. Fewer keys are read one by one.
const SOME: usize = 8;
/// Limits the number of rows that are read without need. A page has at most two rows per requested key. Paging stops when a page has more than two rows per key
/// found on it.
const AROUND: usize = 2;
/// The maximum number of rows in a page.
const PAGE: usize = 1_000;

/// Reads the rows with the given keys. Returns them in the order of `keys`. A missing row is `None`.
pub(crate) async fn rows<S: TableStore, T: Send>(
    of: (&S, &TableName),
    keys: &[EntityKey],
    select: &Select,
    read: impl Fn(EntityRef<'_>) -> Result<T> + Sync,
) -> Result<Vec<Option<T>>> {
    rows_or(of, keys, select, read, Err).await
}

/// Reads the rows with the given keys, like [`rows`]. If the store cannot represent a row, `unreadable` converts the error, and the other rows are still read.
///
/// Pages omit such rows. If a page omits rows, the requested keys that are missing from the page are read one by one.
pub(crate) async fn rows_or<S: TableStore, T: Send>(
    (store, table): (&S, &TableName),
    keys: &[EntityKey],
    select: &Select,
    read: impl Fn(EntityRef<'_>) -> Result<T> + Sync,
    unreadable: impl Fn(Error) -> Result<T> + Sync,
) -> Result<Vec<Option<T>>> {
    let mut found: Vec<Option<T>> = keys.iter().map(|_| None).collect();
    let numbered: Vec<(usize, &EntityKey)> = keys.iter().enumerate().collect();
    let follows = |(_, one): &(usize, &EntityKey), (_, next): &(usize, &EntityKey)| {
        let rows = order::compare(one.row_key.as_str(), next.row_key.as_str());
        one.partition_key == next.partition_key && rows.is_lt()
    };
    let is_ordered = store.capabilities().ordered;
    let is_run = |run: &&[_]| is_ordered && run.len() >= SOME;
    let (runs, alone): (Vec<_>, Vec<_>) = numbered.chunk_by(follows).partition(is_run);
    let mut gets: Vec<_> = alone.into_iter().flatten().copied().collect();
    let found_of = runs.into_iter().map(|run| pages((store, table), run, select, &read));
    for Pages { found: rows, omitted, rest } in requests::in_order(found_of, CONCURRENCY).await? {
        for (at, row) in rows {
            if let Some(place) = found.get_mut(at) {
                *place = Some(row);
            }
        }
        gets.extend(rest);
        gets.extend(omitted);
    }
    let gets = gets.into_iter().map(|(at, key)| {
        let (read, unreadable) = (&read, &unreadable);
        async move {
            let stored = match store.get(table, key, select).await {
                Err(error) if is_unreadable(&error) => return Ok((at, Some(unreadable(error)?))),
                stored => stored?,
            };
            let Some(stored) = stored else { return Ok((at, None)) };
            let row = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), stored.row.view());
            Ok((at, Some(read(row.with_etag(&stored.etag))?)))
        }
    });
    for (at, row) in requests::in_order(gets, CONCURRENCY).await? {
        if let Some(place) = found.get_mut(at) {
            *place = row;
        }
    }
    Ok(found)
}

/// The result of reading ascending keys in pages.
struct Pages<'k, 'a, T> {
    /// The rows found.
    found: Vec<(usize, T)>,
    /// The requested keys that were missing from pages that omit rows. Their rows are read one by one.
    omitted: Vec<(usize, &'a EntityKey)>,
    /// The remaining keys, which the pages have not reached.
    rest: &'k [(usize, &'a EntityKey)],
}

/// Reads ascending keys in one partition in pages.
async fn pages<'k, 'a, S: TableStore, T>(
    (store, table): (&S, &TableName),
    run: &'k [(usize, &'a EntityKey)],
    select: &Select,
    read: impl Fn(EntityRef<'_>) -> Result<T>,
) -> Result<Pages<'k, 'a, T>> {
    let end = |key: &EntityKey| Bound::Included(key.row_key.as_str().to_owned());
    let (mut found, mut omitted, mut rest) = (Vec::with_capacity(run.len()), Vec::new(), run);
    while rest.len() >= SOME
        && let [(_, first), .., (_, last)] = rest
    {
        let rows = TextRange { lower: end(first), upper: end(last) };
        let range = KeyRange::rows(first.partition_key.as_str(), rows);
        let top = Some(rest.len().saturating_mul(AROUND).min(PAGE));
        let query = Query { select: select.clone(), top, ..Query::new(range) };
        let page = store.query(table, &query, None).await?;
        let before = found.len();
        let mut absent = Vec::new();
        for row in page.rows.iter() {
            while let Some(((at, key), behind)) = rest.split_first() {
                let order = order::compare(key.row_key.as_str(), row.row_key);
                if order.is_gt() {
                    break;
                }
                rest = behind;
                if order.is_eq() {
                    found.push((*at, read(row)?));
                    break;
                }
                absent.push((*at, *key));
            }
        }
        if page.continuation.is_none() {
            absent.extend(std::mem::take(&mut rest));
        }
        if page.skipped > 0 {
            omitted.append(&mut absent);
        }
        if page.rows.is_empty() || (found.len() - before) * AROUND < page.rows.len() {
            break;
        }
    }
    Ok(Pages { found, omitted, rest })
}

#[cfg(test)]
mod tests;
