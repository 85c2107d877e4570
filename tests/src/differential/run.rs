//! Runs one program on two stores, and reports the first step with different results.

use std::collections::{BTreeMap, HashMap};

use table_core::etag::{ETag, IfMatch};
use table_core::query::{Continuation, KeyRange, Page, Select};
use table_core::row::{RowView, RowWriter};
use table_core::{
    EntityKey, Operation, OperationKind, PartitionKey, Query, Result, Row, RowKey, TableName, TableStore,
    Transaction, Value,
};

use super::program::{Step, Writes};
use crate::random::{Condition, Properties, Write};
use crate::suite::scene::fresh_name;

/// The maximum number of pages of a query. No program inserts enough entities to reach it.
const MOST_PAGES: usize = 200;

/// An entity without its `ETag` and Timestamp, which differ between stores. It consists of the keys, and of the properties as text.
type Read = (String, String, BTreeMap<String, String>);

/// The outcome of a step: a result, or an error code and the index of the failed operation.
type Outcome<T> = std::result::Result<T, (String, Option<usize>)>;

struct Pair<'a, A, B> {
    left: &'a A,
    right: &'a B,
    table: TableName,
    /// The `ETag`s that the writes to each key have created. Each write has one in the left store, and one in the right store.
    versions: HashMap<EntityKey, Vec<[ETag; 2]>>,
}

/// Runs a program on both stores, in a table created for it.
///
/// # Errors
/// A description of the first step with different results, including both results.
pub async fn run<A: TableStore, B: TableStore>(
    left: &A,
    right: &B,
    program: &[Step],
) -> std::result::Result<(), String> {
    let mut pair = Pair { left, right, table: fresh_name(), versions: HashMap::new() };
    let text = |error: table_core::Error| error.to_string();
    left.create_table(&pair.table).await.map_err(text)?;
    right.create_table(&pair.table).await.map_err(text)?;
    let mut verdict = Ok(());
    for (number, step) in program.iter().enumerate() {
        verdict =
            pair.step(step).await.map_err(|difference| format!("step {number}, {step:?}: {difference}"));
        if verdict.is_err() {
            break;
        }
    }
    if verdict.is_ok() {
        verdict = pair
            .step(&Step::Query(Query::new(KeyRange::ALL)))
            .await
            .map_err(|end| format!("at the end: {end}"));
    }
    left.delete_table(&pair.table).await.map_err(text)?;
    right.delete_table(&pair.table).await.map_err(text)?;
    verdict
}

fn outcome<T>(result: Result<T>) -> Outcome<T> {
    result.map_err(|error| (error.code().as_str().to_owned(), error.operation()))
}

fn agree<T: PartialEq + std::fmt::Debug>(
    left: &Outcome<T>,
    right: &Outcome<T>,
) -> std::result::Result<(), String> {
    if left == right { Ok(()) } else { Err(format!("{left:?} on the left, {right:?} on the right")) }
}

impl<A: TableStore, B: TableStore> Pair<'_, A, B> {
    async fn step(&mut self, step: &Step) -> std::result::Result<(), String> {
        match step {
            Step::Submit(writes) => self.submit(writes).await,
            Step::Get(partition, row, select) => {
                let key = key(partition, row);
                let left = get(self.left, &self.table, &key, select).await;
                agree(&left, &get(self.right, &self.table, &key, select).await)
            }
            Step::Query(query) => {
                let left = outcome(pages(self.left, &self.table, query, None).await);
                agree(&left, &outcome(pages(self.right, &self.table, query, None).await))
            }
            Step::QueryAcross(query, writes) => self.query_across(query, writes).await,
            Step::Recreate => {
                self.versions.clear();
                let left = outcome(recreate(self.left, &self.table).await);
                agree(&left, &outcome(recreate(self.right, &self.table).await))
            }
        }
    }

    async fn submit(&mut self, (partition, writes): &Writes) -> std::result::Result<(), String> {
        let transaction = |side| self.transaction(partition, writes, side).map_err(|error| error.to_string());
        let (for_left, for_right) = (transaction(0)?, transaction(1)?);
        let left = outcome(self.left.submit(&self.table, for_left).await);
        let right = outcome(self.right.submit(&self.table, for_right).await);
        let written = |outcome: &Outcome<Vec<Option<ETag>>>| {
            outcome.clone().map(|etags| etags.iter().map(Option::is_some).collect::<Vec<_>>())
        };
        agree(&written(&left), &written(&right))?;
        for (((row, _), left), right) in
            writes.iter().zip(left.unwrap_or_default()).zip(right.unwrap_or_default())
        {
            if let Some((left, right)) = left.zip(right) {
                self.versions.entry(key(partition, row)).or_default().push([left, right]);
            }
        }
        Ok(())
    }

    /// Checks that both stores return pages of equal size with equal entities.
    ///
    /// The second page must show the writes that were made after the first page was read (CON-9).
    async fn query_across(&mut self, query: &Query, writes: &Writes) -> std::result::Result<(), String> {
        let first =
            |page: Result<Page>| outcome(page.and_then(|page| Ok((entities(&page)?, page.continuation))));
        let left = first(self.left.query(&self.table, query, None).await);
        let right = first(self.right.query(&self.table, query, None).await);
        let shown = |page: &Outcome<(Vec<Read>, Option<Continuation>)>| {
            page.clone().map(|(page, next)| (page, next.is_some()))
        };
        agree(&shown(&left), &shown(&right))?;
        self.submit(writes).await?;
        if let (Ok((_, Some(left))), Ok((_, Some(right)))) = (left, right) {
            let left = outcome(pages(self.left, &self.table, query, Some(left)).await);
            agree(&left, &outcome(pages(self.right, &self.table, query, Some(right)).await))?;
        }
        Ok(())
    }

    fn transaction(
        &self,
        partition: &str,
        writes: &[(&'static str, Write)],
        side: usize,
    ) -> Result<Transaction> {
        let mut transaction =
            Transaction::new(PartitionKey::new(partition)?, table_core::limits::Limits::PORTABLE)?;
        for (row, write) in writes {
            let condition = |condition: &Condition| match condition {
                Condition::Any => IfMatch::Any,
                Condition::Version(ago) => {
                    let versions = self.versions.get(&key(partition, row));
                    let version = versions.and_then(|versions| versions.iter().rev().nth(*ago));
                    let never = || ETag::from_ticks(table_core::ticks::UNIX_EPOCH);
                    IfMatch::ETag(version.and_then(|sides| sides.get(side).cloned()).unwrap_or_else(never))
                }
            };
            let kind = match write {
                Write::Insert(p) => OperationKind::Insert(encoded(p)),
                Write::Replace(p, c) => OperationKind::Replace(encoded(p), condition(c)),
                Write::Merge(p, c) => OperationKind::Merge(encoded(p), condition(c)),
                Write::InsertOrReplace(p) => OperationKind::InsertOrReplace(encoded(p)),
                Write::InsertOrMerge(p) => OperationKind::InsertOrMerge(encoded(p)),
                Write::Delete(c) => OperationKind::Delete(condition(c)),
                // The service's protocol does not support checks.
                Write::Check(_) => continue,
            };
            transaction.push(Operation { row_key: RowKey::new(*row)?, kind })?;
        }
        Ok(transaction)
    }
}

async fn recreate<S: TableStore>(store: &S, table: &TableName) -> Result<()> {
    store.delete_table(table).await?;
    store.create_table(table).await
}

async fn get<S: TableStore>(
    store: &S,
    table: &TableName,
    key: &EntityKey,
    select: &Select,
) -> Outcome<Option<Read>> {
    let found = store.get(table, key, select).await.and_then(|found| {
        let read = |row: &Row| read(key.partition_key.as_str(), key.row_key.as_str(), row.view());
        found.map(|found| read(&found.row)).transpose()
    });
    outcome(found)
}

/// Reads all pages of a query, and checks that no page is larger than requested.
async fn pages<S: TableStore>(
    store: &S,
    table: &TableName,
    query: &Query,
    mut from: Option<Continuation>,
) -> Result<Vec<Read>> {
    let mut all = Vec::new();
    for _ in 0..MOST_PAGES {
        let page = store.query(table, query, from.as_ref()).await?;
        assert!(page.rows.len() <= query.top.unwrap_or(1_000), "TOP-1: {query:?}");
        all.extend(entities(&page)?);
        from = page.continuation;
        if from.is_none() {
            return Ok(all);
        }
    }
    panic!("PAGE-4: the pages have no end: {query:?}");
}

fn key(partition: &str, row: &str) -> EntityKey {
    EntityKey::new(partition, row).unwrap_or_else(|error| panic!("{error}"))
}

fn encoded(properties: &Properties) -> Row {
    let mut writer = RowWriter::new();
    for (name, value) in properties {
        writer.property(name, value.as_ref());
    }
    writer.finish()
}

/// Returns the keys of an entity, and its properties by name. Each value is formatted as text, so NaN is equal to itself.
fn read(partition: &str, row: &str, view: RowView<'_>) -> Result<Read> {
    let text = |value: Value| format!("{value:?}");
    let properties =
        view.properties().map(|property| property.map(|p| (p.name.to_owned(), text(p.value.to_owned()))));
    Ok((partition.to_owned(), row.to_owned(), properties.collect::<Result<_>>()?))
}

fn entities(page: &Page) -> Result<Vec<Read>> {
    page.rows.iter().map(|entity| read(entity.partition_key, entity.row_key, entity.row)).collect()
}
