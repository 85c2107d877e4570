//! The fixture for a scenario: a new table in the store under test, and helper functions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::Utc;
use table_core::etag::{ETag, IfMatch};
use table_core::filter::Filter;
use table_core::query::{Continuation, KeyRange, Query, Select, TextRange};
use table_core::row::RowWriter;
use table_core::{
    EntityKey, Error, ErrorCode, Operation, OperationKind, PartitionKey, Result, Row, RowKey, TableName,
    TableStore, Transaction, Value,
};

/// A table created for one scenario, and its store.
#[derive(Debug)]
pub struct Scene<'a, S> {
    pub store: &'a S,
    pub table: TableName,
}

/// The properties of an entity, as read from the store.
pub type Properties = BTreeMap<String, Value>;

/// An entity as read from the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    pub properties: Properties,
    pub etag: ETag,
    pub ticks: u64,
}

/// One page of a query: the keys and properties of its entities, and the continuation.
#[derive(Debug)]
pub struct KeyPage {
    pub keys: Vec<(String, String)>,
    pub properties: Vec<Properties>,
    pub next: Option<Continuation>,
}

/// Returns a row with the given properties.
#[must_use]
pub fn row<const N: usize>(properties: [(&str, Value); N]) -> Row {
    let mut writer = RowWriter::with_capacity(N);
    for (name, value) in properties {
        writer.property(name, value.as_ref());
    }
    writer.finish()
}

/// Returns a row whose only property is `A`.
pub fn a(value: impl Into<Value>) -> Row {
    row([("A", value.into())])
}

/// Returns the expected properties of a row created by [`a`].
pub fn is_a(value: impl Into<Value>) -> Properties {
    is([("A", value.into())])
}

/// Returns the expected properties of a row created by [`row`].
#[must_use]
pub fn is<const N: usize>(properties: [(&str, Value); N]) -> Properties {
    properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns an `ETag` that no entity has.
#[must_use]
pub fn stale() -> ETag {
    ETag::parse("W/\"datetime'2001-01-01T00%3A00%3A00Z'\"").unwrap()
}

/// Returns the name of a table that has never existed in the store. Scenarios need such names, because they run repeatedly on persistent stores.
#[must_use]
pub fn fresh_name() -> TableName {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let moment = Utc::now().timestamp_micros();
    TableName::new(&format!("Suite{}x{moment}x{count}", std::process::id())).unwrap()
}

/// Checks that a call failed with the given error code. Returns the error.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(result: Result<T>, code: ErrorCode) -> Error {
    let error = result.expect_err(code.as_str());
    assert_eq!(error.code(), code, "{error}");
    error
}

/// Returns the `RowKey` in each pair of keys.
#[must_use]
pub fn row_keys(keys: &[(String, String)]) -> Vec<&str> {
    keys.iter().map(|(_, row_key)| row_key.as_str()).collect()
}

/// Returns the key range of the rows in `partition` from `from` (inclusive) to `below` (exclusive).
#[must_use]
pub fn rows(partition: &str, from: &str, below: &str) -> KeyRange {
    let (lower, upper) = (from.to_owned(), below.to_owned());
    let rows = TextRange { lower: std::ops::Bound::Included(lower), upper: std::ops::Bound::Excluded(upper) };
    KeyRange::rows(partition, rows)
}

fn read_properties(row: table_core::row::RowView<'_>) -> Properties {
    row.properties()
        .map(|property| property.map(|p| (p.name.to_owned(), p.value.to_owned())).unwrap())
        .collect()
}

impl<'a, S: TableStore> Scene<'a, S> {
    pub async fn new(store: &'a S) -> Self {
        let table = fresh_name();
        store.create_table(&table).await.unwrap();
        Self { store, table }
    }

    /// Creates a fixture whose table does not exist.
    pub fn missing(store: &'a S) -> Self {
        Self { store, table: fresh_name() }
    }

    pub async fn submit(&self, p: &str, operations: Vec<(&str, OperationKind)>) -> Result<Vec<Option<ETag>>> {
        let limits = self.store.capabilities().limits;
        let mut transaction = Transaction::new(PartitionKey::new(p)?, limits)?;
        for (row_key, kind) in operations {
            transaction.push(Operation { row_key: RowKey::new(row_key)?, kind })?;
        }
        self.store.submit(&self.table, transaction).await
    }

    async fn one(&self, p: &str, r: &str, kind: OperationKind) -> Result<ETag> {
        let etags = self.submit(p, vec![(r, kind)]).await?;
        assert_eq!(etags.len(), 1, "one operation has one answer");
        Ok(etags.into_iter().flatten().next().expect("ETAG-3: every write but a delete gives an ETag"))
    }

    pub async fn insert(&self, p: &str, r: &str, row: Row) -> Result<ETag> {
        self.one(p, r, OperationKind::Insert(row)).await
    }

    pub async fn replace(&self, p: &str, r: &str, row: Row, if_match: impl Into<IfMatch>) -> Result<ETag> {
        self.one(p, r, OperationKind::Replace(row, if_match.into())).await
    }

    pub async fn merge(&self, p: &str, r: &str, row: Row, if_match: impl Into<IfMatch>) -> Result<ETag> {
        self.one(p, r, OperationKind::Merge(row, if_match.into())).await
    }

    pub async fn insert_or_replace(&self, p: &str, r: &str, row: Row) -> Result<ETag> {
        self.one(p, r, OperationKind::InsertOrReplace(row)).await
    }

    pub async fn insert_or_merge(&self, p: &str, r: &str, row: Row) -> Result<ETag> {
        self.one(p, r, OperationKind::InsertOrMerge(row)).await
    }

    pub async fn delete(&self, p: &str, r: &str, if_match: impl Into<IfMatch>) -> Result<()> {
        let etags = self.submit(p, vec![(r, OperationKind::Delete(if_match.into()))]).await?;
        assert_eq!(etags, [None], "DEL-2: a delete has no ETag");
        Ok(())
    }

    /// Inserts an entity at each of the given keys. Its property `A` is 1.
    pub async fn fill(&self, keys: impl IntoIterator<Item = (&str, &str)>) {
        for (partition, row_key) in keys {
            self.insert(partition, row_key, a(1)).await.unwrap();
        }
    }

    /// Inserts `count` entities with the row keys `0000`, `0001` and so on. Property `A` is the number in the key.
    pub async fn fill_numbers(&self, partition: &str, count: i32) {
        let numbers: Vec<(String, i32)> = (0..count).map(|number| (format!("{number:04}"), number)).collect();
        for chunk in numbers.chunks(100) {
            let inserts = chunk.iter().map(|(key, number)| (key.as_str(), OperationKind::Insert(a(*number))));
            self.submit(partition, inserts.collect()).await.unwrap();
        }
    }

    pub async fn try_read(&self, p: &str, r: &str, select: &Select) -> Result<Option<Stored>> {
        let found = self.store.get(&self.table, &EntityKey::new(p, r)?, select).await?;
        Ok(found.map(|found| Stored {
            properties: read_properties(found.row.view()),
            ticks: found.row.view().timestamp(),
            etag: found.etag,
        }))
    }

    pub async fn read(&self, p: &str, r: &str) -> Option<Stored> {
        self.try_read(p, r, &Select::All).await.unwrap()
    }

    /// Returns the properties of an entity, which must exist.
    pub async fn properties(&self, p: &str, r: &str) -> Properties {
        self.read(p, r).await.expect("the entity is there").properties
    }

    pub async fn page(&self, query: &Query, from: Option<&Continuation>) -> Result<KeyPage> {
        let page = self.store.query(&self.table, query, from).await?;
        let key = |e: table_core::query::EntityRef<'_>| (e.partition_key.to_owned(), e.row_key.to_owned());
        Ok(KeyPage {
            keys: page.rows.iter().map(key).collect(),
            properties: page.rows.iter().map(|entity| read_properties(entity.row)).collect(),
            next: page.continuation,
        })
    }

    /// Returns the keys on all pages of a query. Checks that no page is too large, that the keys are in order, and that no entity occurs twice.
    ///
    /// If the store does not return entities in key order (COS-1), the keys are sorted first.
    pub async fn keys(&self, query: &Query) -> Vec<(String, String)> {
        let mut keys: Vec<(String, String)> = Vec::new();
        let mut from = None;
        for _ in 0..100_000 {
            let page = self.page(query, from.as_ref()).await.unwrap();
            assert!(page.keys.len() <= query.top.unwrap_or(1_000), "PAGE-1, TOP-1: the page is too large");
            keys.extend(page.keys);
            from = page.next;
            if from.is_none() {
                let place = |key: &(String, String)| -> (Vec<u16>, Vec<u16>) {
                    (key.0.encode_utf16().collect(), key.1.encode_utf16().collect())
                };
                if !self.store.capabilities().ordered {
                    keys.sort_by_key(&place);
                }
                assert!(
                    keys.is_sorted_by(|left, right| place(left) < place(right)),
                    "ORD-1, QRY-3: {keys:?}"
                );
                return keys;
            }
        }
        panic!("PAGE-4: the pages have no end");
    }

    /// Returns the row keys of the entities in a partition that match `filter`.
    pub async fn matches(&self, partition: &str, filter: &str) -> Vec<String> {
        let mut query = Query::new(KeyRange::partition(partition));
        query.filter = Filter::parse(filter).unwrap_or_else(|error| panic!("`{filter}`: {error}"));
        self.keys(&query).await.into_iter().map(|(_, row_key)| row_key).collect()
    }
}
