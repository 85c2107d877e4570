//! Follows a partition: its newest rows first, then the rows that are added.

use std::collections::VecDeque;
use std::ops::Bound;

use table_core::query::{KeyRange, TextRange};
use table_core::schema::StoredSchema;
use table_core::{DynTableStore, FromEntity, Query, TableEntity, TableName};

use crate::failure::Result;
use crate::rows::Pages;
use table_inspect::keys;

/// The row-key prefix of a feed's entries. 20 digits follow it.
const FEED: &str = "\u{FFFC}feed_";

/// Returns the row keys of a feed's entries, excluding the head of the feed.
#[must_use]
pub fn feed_range() -> TextRange {
    let bound = |end: char| format!("{FEED}{end}");
    TextRange { lower: Bound::Included(bound('0')), upper: Bound::Excluded(bound(':')) }
}

/// A follower of the rows of one partition in a range of row keys.
#[derive(Debug)]
pub struct Tail {
    store: DynTableStore,
    table: TableName,
    range: KeyRange,
    /// `true` if newer rows sort before older rows.
    is_descending: bool,
    /// The RowKey of the newest row that was returned.
    last: Option<String>,
}

impl Tail {
    /// Returns the newest rows, at most `lines`, oldest first.
    ///
    /// If the newest rows sort first, this reads one page; otherwise, it reads the entire range. Memory holds `lines` rows and one page.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn begin(
        store: DynTableStore,
        table: TableName,
        range: KeyRange,
        lines: usize,
        schemas: &[StoredSchema],
    ) -> Result<(Self, Vec<TableEntity>)> {
        let mut tail = Self { store, table, range, is_descending: false, last: None };
        let mut newest: VecDeque<TableEntity> = VecDeque::new();
        let query = Query::new(tail.range.clone());
        let mut pages = Pages::new(&tail.store, &tail.table, query);
        let mut last = None;
        while let Some(page) = pages.next().await? {
            let entities: table_core::Result<Vec<_>> =
                page.rows.iter().map(TableEntity::from_entity).collect();
            let entities = entities?;
            if last.is_none() && keys::is_newest_first(schemas, &entities) {
                tail.is_descending = true;
                last = entities.first().map(row_key);
                newest = entities.into_iter().take(lines).collect();
                newest.make_contiguous().reverse();
                break;
            }
            last = entities.last().map(row_key).or(last);
            newest.extend(entities);
            newest.drain(..newest.len().saturating_sub(lines));
        }
        tail.last = last;
        Ok((tail, newest.into()))
    }

    /// Returns the rows that were added since the last call, oldest first.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn poll(&mut self) -> Result<Vec<TableEntity>> {
        let mut range = self.range.clone();
        if let Some(last) = self.last.clone() {
            let bound = Bound::Excluded(last);
            let newer = if self.is_descending {
                TextRange { lower: Bound::Unbounded, upper: bound }
            } else {
                TextRange { lower: bound, upper: Bound::Unbounded }
            };
            range.row_key.intersect(&newer);
        }
        let mut pages = Pages::new(&self.store, &self.table, Query::new(range));
        let mut rows = Vec::new();
        while let Some(page) = pages.next().await? {
            for entity in page.rows.iter() {
                rows.push(TableEntity::from_entity(entity)?);
            }
        }
        if self.is_descending {
            rows.reverse();
        }
        self.last = rows.last().map(row_key).or_else(|| self.last.take());
        Ok(rows)
    }
}

fn row_key(entity: &TableEntity) -> String {
    entity.key().row_key.as_str().to_owned()
}

#[cfg(test)]
mod tests {
    use table_core::{Engine, TableStoreExt, ticks};

    use super::*;

    async fn follow(key: impl Fn(u64) -> String) {
        let store = DynTableStore::new(Engine::in_memory());
        let table = store.untyped("Log").unwrap().create_if_missing().await.unwrap();
        let add = async |n: u64| {
            let entity = TableEntity::new("p", key(n)).unwrap().with("N", i64::try_from(n).unwrap());
            table.insert(&entity).await.unwrap();
        };
        for n in 0..5 {
            add(n).await;
        }
        let numbers = |rows: Vec<TableEntity>| -> Vec<_> {
            rows.iter().map(|row| row.get("N").cloned().unwrap()).collect()
        };
        let wanted = |numbers: &[i64]| numbers.iter().map(|number| (*number).into()).collect::<Vec<_>>();
        let (range, name) = (KeyRange::partition("p"), TableName::new("Log").unwrap());
        let (mut tail, rows) = Tail::begin(store.clone(), name, range, 2, &[]).await.unwrap();
        assert_eq!(numbers(rows), wanted(&[3, 4]));
        assert_eq!(tail.poll().await.unwrap(), []);
        add(5).await;
        add(6).await;
        assert_eq!(numbers(tail.poll().await.unwrap()), wanted(&[5, 6]));
        assert_eq!(tail.poll().await.unwrap(), []);
    }

    #[tokio::test]
    async fn rows_are_followed_whether_the_newest_sort_first_or_last() {
        follow(|n| format!("{n:06}")).await;
        follow(|n| format!("{:019}", ticks::MAX - (638_000_000_000_000_000 + n))).await;
    }

    #[tokio::test]
    async fn an_empty_partition_is_followed_from_its_first_row() {
        let store = DynTableStore::new(Engine::in_memory());
        let table = store.untyped("Log").unwrap().create_if_missing().await.unwrap();
        let (range, name) = (KeyRange::partition("p"), TableName::new("Log").unwrap());
        let (mut tail, rows) = Tail::begin(store.clone(), name, range, 2, &[]).await.unwrap();
        assert_eq!(rows, []);
        table.insert(&TableEntity::new("p", "1").unwrap()).await.unwrap();
        assert_eq!(tail.poll().await.unwrap().len(), 1);
    }
}
