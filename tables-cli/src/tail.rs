//! Follows a partition: returns its newest rows, and then further rows as they are added. Index rows stored in the same partition as their entities are
//! omitted.

use std::collections::VecDeque;
use std::ops::Bound;

use table_core::query::TextRange;
use table_core::schema::StoredSchema;
use table_core::{DynTableStore, FromEntity, Page, TableEntity, TableName};

use crate::failure::Result;
use crate::rows::{Pages, Selected};
use table_inspect::keys;
use table_inspect::kind::{Kind, Kinds, RESERVED};

/// The `RowKey` prefix of a feed's entries. The prefix is followed by 20 digits.
const FEED: &str = "\u{FFFC}feed_";

/// Returns the row-key range of feed entries, without the feed's head row.
#[must_use]
pub fn feed_range() -> TextRange {
    let bound = |end: char| format!("{FEED}{end}");
    TextRange { lower: Bound::Included(bound('0')), upper: Bound::Excluded(bound(':')) }
}

/// Returns the row-key range of entities and index rows, without the library's internal rows.
#[must_use]
pub fn entity_range() -> TextRange {
    TextRange { lower: Bound::Unbounded, upper: Bound::Excluded(RESERVED.to_string()) }
}

/// A reader that follows the rows of one partition in a range of row keys.
#[derive(Debug)]
pub struct Tail {
    store: DynTableStore,
    table: TableName,
    selected: Selected,
    /// The schemas of the entity types in the range.
    schemas: Vec<StoredSchema>,
    /// The schemas used to classify rows, each paired with its lower-case table name.
    named: Vec<(String, StoredSchema)>,
    /// `true` if newer rows sort before older rows, and `None` until the order is known, which usually requires two rows.
    is_descending: Option<bool>,
    /// The RowKey of the newest row seen so far.
    last: Option<String>,
    /// The number of rows that the pages read so far omit.
    omitted: u64,
}

impl Tail {
    /// Returns the number of rows that the store omitted, because it cannot represent them as entities. A row after the newest row that was read is counted once
    /// a newer row follows it.
    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns a reader and the newest rows (at most `lines`), oldest first.
    ///
    /// If the newest rows sort first, reads only as many pages as needed for `lines` rows. Otherwise, reads the entire range. Keeps `lines` rows and one page
    /// in memory.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn begin(
        store: DynTableStore,
        table: TableName,
        selected: impl Into<Selected>,
        lines: usize,
        schemas: &[StoredSchema],
    ) -> Result<(Self, Vec<TableEntity>)> {
        let named = |schema: &StoredSchema| (table.folded().to_owned(), schema.clone());
        let named = schemas.iter().map(named).collect();
        let (selected, schemas) = (selected.into(), schemas.to_vec());
        let mut tail =
            Self { store, table, selected, schemas, named, is_descending: None, last: None, omitted: 0 };
        let mut newest: VecDeque<TableEntity> = VecDeque::new();
        let mut pages = Pages::new(&tail.store, &tail.table, tail.selected.clone());
        let mut last = None;
        while let Some(page) = pages.next().await? {
            let entities = tail.entities(&page)?;
            let range = &tail.selected.query.keys.row_key;
            if last.is_none() && keys::is_newest_first(&tail.schemas, &entities, range) {
                tail.is_descending = Some(true);
                last = entities.first().map(row_key);
            }
            if tail.is_descending == Some(true) {
                let more = lines.saturating_sub(newest.len());
                entities.into_iter().take(more).for_each(|entity| newest.push_front(entity));
                if newest.len() >= lines {
                    break;
                }
                continue;
            }
            if entities.len() > 1 || last.is_some() && !entities.is_empty() {
                tail.is_descending = Some(false);
            }
            last = entities.last().map(row_key).or(last);
            newest.extend(entities);
            newest.drain(..newest.len().saturating_sub(lines));
        }
        tail.omitted = pages.omitted();
        tail.last = last;
        Ok((tail, newest.into()))
    }

    /// Returns the rows of a page, without index rows stored in the same partition as their entities. Index rows sort before or after all entities, so the
    /// first or last row of the partition might not be the newest entity.
    fn entities(&self, page: &Page) -> Result<Vec<TableEntity>> {
        let kinds = Kinds::new(self.table.as_str(), &self.named);
        let mut entities: Vec<TableEntity> =
            page.rows.iter().map(TableEntity::from_entity).collect::<table_core::Result<_>>()?;
        let is_index_row = |entity: &TableEntity| match kinds.of(entity) {
            Kind::Index(_, index) => index.partition_key.is_none(),
            _ => false,
        };
        entities.retain(|entity| !is_index_row(entity));
        Ok(entities)
    }

    /// Returns the rows added since the last call, oldest first.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn poll(&mut self) -> Result<Vec<TableEntity>> {
        let mut newer_rows = self.selected.clone();
        if let (Some(last), Some(is_descending)) = (self.last.clone(), self.is_descending) {
            let bound = Bound::Excluded(last);
            let newer = if is_descending {
                TextRange { lower: Bound::Unbounded, upper: bound }
            } else {
                TextRange { lower: bound, upper: Bound::Unbounded }
            };
            newer_rows.query.keys.row_key.intersect(&newer);
        }
        let mut pages = Pages::new(&self.store, &self.table, newer_rows);
        let mut rows = Vec::new();
        while let Some(page) = pages.next().await? {
            rows.extend(self.entities(&page)?);
        }
        // Without a newer row, the next poll reads the same range again, and its omitted rows are counted then.
        if !rows.is_empty() {
            self.omitted = self.omitted.saturating_add(pages.omitted());
        }
        if self.is_descending.is_none() && !rows.is_empty() {
            let is_descending =
                keys::is_newest_first(&self.schemas, &rows, &self.selected.query.keys.row_key);
            self.is_descending = (is_descending || rows.len() > 1).then_some(is_descending);
            rows.retain(|row| self.last.as_deref() != Some(row.key().row_key.as_str()));
        }
        if self.is_descending == Some(true) {
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
    use table_core::query::KeyRange;
    use table_core::{Engine, Query, TableStoreExt, ticks};

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
        let (mut tail, rows) = Tail::begin(store.clone(), name, Query::new(range), 2, &[]).await.unwrap();
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

    /// The schema of events with an index in their partition, whose rows sort after the events.
    const INDEXED: &str = "schema 1\nentity Event\ntable Log\nPartitionKey site text 0..512 ordered legal\n\
        RowKey \"e_\"\nRowKey number digits(6) 6 ordered [0-9]\nproperty N Edm.Int64\n\
        index ByName copies\nindex ByName RowKey \"n_\"\nindex ByName RowKey Name text 0..512 ordered legal\n";

    #[tokio::test]
    async fn rows_that_sort_after_the_entities_hide_no_entity() {
        let store = DynTableStore::new(Engine::in_memory());
        let table = store.untyped("Log").unwrap().create_if_missing().await.unwrap();
        let row = |key: &str, n: i64| TableEntity::new("p", key).unwrap().with("N", n);
        for n in 0..5 {
            table.insert(&row(&format!("e_{n:06}"), n)).await.unwrap();
            table.insert(&row(&format!("n_{}", 9 - n), n)).await.unwrap();
        }
        let schema: StoredSchema = INDEXED.parse().unwrap();
        let name = TableName::new("Log").unwrap();
        let begin = async |range: KeyRange| {
            let (store, name) = (store.clone(), name.clone());
            Tail::begin(store, name, Query::new(range), 2, std::slice::from_ref(&schema)).await.unwrap()
        };
        let (mut tail, rows) = begin(KeyRange::rows("p", entity_range())).await;
        let keys = |rows: &[TableEntity]| rows.iter().map(row_key).collect::<Vec<_>>();
        assert_eq!(keys(&rows), ["e_000003", "e_000004"]);
        assert_eq!(tail.poll().await.unwrap(), []);
        table.insert(&row("n_1", 5)).await.unwrap();
        table.insert(&row("e_000005", 5)).await.unwrap();
        assert_eq!(keys(&tail.poll().await.unwrap()), ["e_000005"]);
        assert_eq!(tail.poll().await.unwrap(), []);
    }

    #[tokio::test]
    async fn a_partition_with_few_rows_is_followed_in_either_order() {
        let newest_first = |n: u64| format!("{:019}", ticks::MAX - (638_000_000_000_000_000 + n));
        for key in [&newest_first as &dyn Fn(u64) -> String, &|n| format!("{n:06}")] {
            // The initial number of rows, and the number of rows added before each poll.
            for (begin, steps) in
                [(0, [1, 1, 1]), (0, [0, 1, 2]), (0, [2, 1, 3]), (1, [0, 1, 1]), (1, [2, 0, 1])]
            {
                let store = DynTableStore::new(Engine::in_memory());
                let table = store.untyped("Log").unwrap().create_if_missing().await.unwrap();
                let (range, name) = (KeyRange::partition("p"), TableName::new("Log").unwrap());
                let mut added = 0;
                let mut add = async |count: u64| {
                    for _ in 0..count {
                        table.insert(&TableEntity::new("p", key(added)).unwrap()).await.unwrap();
                        added += 1;
                    }
                };
                add(begin).await;
                let (mut tail, mut seen) =
                    Tail::begin(store.clone(), name, Query::new(range), 2, &[]).await.unwrap();
                for step in steps {
                    add(step).await;
                    seen.extend(tail.poll().await.unwrap());
                }
                let seen: Vec<_> = seen.iter().map(row_key).collect();
                assert_eq!(seen, (0..added).map(key).collect::<Vec<_>>(), "{begin} and {steps:?}");
            }
        }
    }
}
