//! Runs a random program on a store and on the reference model, step by step, and compares every result.
//!
//! The store and the model have different `ETag`s, and may end their pages at different rows. A condition identifies a version by the number of later writes to
//! the same key. A page is correct if it contains exactly the rows of the model between its start and its continuation.

use std::collections::{BTreeMap, HashMap};

use pollster::block_on;
use table_core::etag::{ETag, IfMatch};
use table_core::operation::RowState;
use table_core::query::{Continuation, Page, Position, Query, Select};
use table_core::row::{RowView, RowWriter};
use table_core::{
    EntityKey, ErrorCode, Operation, OperationKind, PartitionKey, Result, Row, RowKey, TableName, TableStore,
    Transaction, Value,
};

use crate::model::ModelStore;
use crate::random::{Condition, Properties, Step, TABLES, Write};

/// A store under test that can be closed and reopened.
pub trait Subject {
    /// The type of the store under test.
    type Store: TableStore;

    /// Returns the currently open store.
    fn store(&self) -> &Self::Store;

    /// Closes and reopens the store if the backend supports this. If `orderly` is `false`, the store is dropped without being closed.
    fn reopen(&mut self, orderly: bool);
}

/// An in-memory store. Reopening it does nothing.
#[derive(Debug)]
pub struct InMemory<S>(pub S);

impl<S: TableStore> Subject for InMemory<S> {
    type Store = S;

    fn store(&self) -> &S {
        &self.0
    }

    fn reopen(&mut self, _orderly: bool) {}
}

/// An entity without its `ETag` and Timestamp, which differ between stores.
type Read = (String, String, Vec<(String, String)>);

struct Cursor {
    table: usize,
    query: Query,
    next: Continuation,
}

struct Run<'a, B> {
    subject: &'a mut B,
    model: ModelStore,
    tables: Vec<TableName>,
    /// For each key, the `ETag`s that each write created: one in the store, and one in the model.
    versions: HashMap<(usize, EntityKey), Vec<(ETag, ETag)>>,
    cursors: Vec<Cursor>,
}

/// Runs a program on the store and on the model.
///
/// # Panics
/// Panics if the store and the model return different results.
pub fn run<B: Subject>(subject: &mut B, program: &[Step]) {
    let tables = TABLES.iter().map(|name| TableName::new(name)).collect::<Result<_>>();
    let tables = tables.unwrap_or_else(|error| panic!("{error}"));
    let mut run =
        Run { subject, model: ModelStore::new(), tables, versions: HashMap::new(), cursors: Vec::new() };
    for step in program {
        run.step(step);
    }
}

/// Checks that both calls returned equal results, or failed with the same code. Returns both results. Returns `None` if the calls failed.
#[track_caller]
fn agree<T, U>(found: Result<T>, expected: Result<U>) -> Option<(T, U)> {
    let rendered =
        |error: &table_core::Error| -> (ErrorCode, Option<usize>) { (error.code(), error.operation()) };
    match (found, expected) {
        (Ok(found), Ok(expected)) => Some((found, expected)),
        (Err(found), Err(expected)) => {
            assert_eq!(rendered(&found), rendered(&expected), "{found} / {expected}");
            None
        }
        (Ok(_), Err(expected)) => panic!("accepted, where the model refuses: {expected}"),
        (Err(found), Ok(_)) => panic!("refused, where the model accepts: {found}"),
    }
}

impl<B: Subject> Run<'_, B> {
    fn step(&mut self, step: &Step) {
        let store = self.subject.store();
        match step {
            Step::Create(table) => {
                let table = &self.tables[*table];
                agree(block_on(store.create_table(table)), block_on(self.model.create_table(table)));
            }
            Step::Drop(table) => {
                let table = &self.tables[*table];
                agree(block_on(store.delete_table(table)), block_on(self.model.delete_table(table)));
                // If a table is created again, it is a different table. Some stores refuse continuations of the old table (PAGE-9).
                let same = |other: &TableName| other.as_str().eq_ignore_ascii_case(table.as_str());
                self.cursors.retain(|cursor| !same(&self.tables[cursor.table]));
            }
            Step::List(prefix, top) => {
                assert_eq!(names(store, prefix, *top), names(&self.model, prefix, 1_000));
            }
            Step::Submit(table, partition, writes) => self.submit(*table, partition, writes),
            Step::Get(table, partition, row, select) => self.get(*table, partition, row, select),
            Step::Begin(table, query) => self.page(*table, query, None),
            Step::Continue(cursor, top) => {
                if *cursor < self.cursors.len() {
                    let Cursor { table, query, next } = self.cursors.remove(*cursor);
                    self.page(table, &Query { top: Some(*top), ..query }, Some(&next));
                }
            }
            Step::Drain(table, query) => {
                let before = self.cursors.len();
                self.page(*table, query, None);
                while self.cursors.len() > before {
                    if let Some(Cursor { table, query, next }) = self.cursors.pop() {
                        self.page(table, &query, Some(&next));
                    }
                }
            }
            Step::Reopen(orderly) => self.subject.reopen(*orderly),
        }
    }

    fn submit(&mut self, table: usize, partition: &str, writes: &[(&'static str, Write)]) {
        let checks = self.subject.store().capabilities().checks;
        let is_known = |write: &Write| checks || !matches!(write, Write::Check(_));
        let writes: Vec<_> = writes.iter().filter(|(_, write)| is_known(write)).cloned().collect();
        let writes = &*writes;
        let (found, expected) =
            (self.transaction(table, partition, writes, 0), self.transaction(table, partition, writes, 1));
        let Some((found, expected)) = agree(found, expected) else { return };
        let name = &self.tables[table];
        let found = block_on(self.subject.store().submit(name, found));
        let Some((found, expected)) = agree(found, block_on(self.model.submit(name, expected))) else {
            return;
        };
        assert_eq!(found.len(), expected.len());
        for (((row, _), found), expected) in writes.iter().zip(found).zip(expected) {
            assert_eq!(found.is_some(), expected.is_some(), "ETAG-3");
            if let Some(versions) = found.zip(expected) {
                self.versions.entry((table, key(partition, row))).or_default().push(versions);
            }
        }
    }

    /// Returns a transaction that uses the `ETag`s of the store (side 0) or of the model (side 1).
    fn transaction(
        &self,
        table: usize,
        partition: &str,
        writes: &[(&'static str, Write)],
        side: usize,
    ) -> Result<Transaction> {
        let limits = self.subject.store().capabilities().limits;
        let mut transaction = Transaction::new(PartitionKey::new(partition)?, limits)?;
        for (row_key, write) in writes {
            let condition = |condition: &Condition| match condition {
                Condition::Any => IfMatch::Any,
                Condition::Version(ago) => {
                    let versions = self.versions.get(&(table, key(partition, row_key)));
                    let version = versions.and_then(|versions| versions.iter().rev().nth(*ago));
                    let never = || ETag::from_ticks(table_core::ticks::UNIX_EPOCH);
                    let etag = version.map(|(store, model)| if side == 0 { store } else { model });
                    IfMatch::ETag(etag.cloned().unwrap_or_else(never))
                }
            };
            let kind = match write {
                Write::Insert(p) => OperationKind::Insert(encoded(p)),
                Write::Replace(p, c) => OperationKind::Replace(encoded(p), condition(c)),
                Write::Merge(p, c) => OperationKind::Merge(encoded(p), condition(c)),
                Write::InsertOrReplace(p) => OperationKind::InsertOrReplace(encoded(p)),
                Write::InsertOrMerge(p) => OperationKind::InsertOrMerge(encoded(p)),
                Write::Delete(c) => OperationKind::Delete(condition(c)),
                Write::Check(None) => OperationKind::Check(RowState::Absent),
                Write::Check(Some(c)) => OperationKind::Check(RowState::Present(condition(c))),
            };
            transaction.push(Operation { row_key: RowKey::new(*row_key)?, kind })?;
        }
        Ok(transaction)
    }

    fn get(&self, table: usize, partition: &str, row: &str, select: &Select) {
        let (name, key) = (&self.tables[table], key(partition, row));
        let found = block_on(self.subject.store().get(name, &key, select));
        let expected = block_on(self.model.get(name, &key, select));
        let Some((found, expected)) = agree(found, expected) else { return };
        assert_eq!(
            found.as_ref().map(|found| read(found.row.view())),
            expected.as_ref().map(|expected| read(expected.row.view()))
        );
        // A read must return the version that was acknowledged.
        if let Some((found, expected)) = found.zip(expected) {
            let last = self.versions.get(&(table, key)).and_then(|versions| versions.last());
            assert_eq!(Some(&(found.etag, expected.etag)), last);
        }
    }

    /// Reads one page of a query. If more pages follow, keeps the continuation as a cursor.
    fn page(&mut self, table: usize, query: &Query, from: Option<&Continuation>) {
        let name = &self.tables[table];
        let found = block_on(self.subject.store().query(name, query, from));
        let whole = Query { top: Some(1_000), ..query.clone() };
        let Some((page, all)) = agree(found, block_on(self.model.query(name, &whole, None))) else { return };
        assert!(all.continuation.is_none(), "the model's answer is one page");
        let position = |continuation: &Continuation| -> (Vec<u16>, Vec<u16>) {
            let position =
                continuation.position(name, query).unwrap_or_else(|error| panic!("PAGE-9: {error}"));
            place(position)
        };
        let (from, next) = (from.map(position), page.continuation.as_ref().map(position));
        let mut expected = entities(&all);
        expected.retain(|(partition, row, _)| {
            let at = (partition.encode_utf16().collect(), row.encode_utf16().collect());
            from.as_ref().is_none_or(|from| at >= *from) && next.as_ref().is_none_or(|next| at < *next)
        });
        assert_eq!(entities(&page), expected, "{query:?}");
        assert!(page.rows.len() <= query.top.unwrap_or(1_000), "TOP-1");
        let goes_on = if page.rows.is_empty() { next >= from } else { next > from };
        assert!(next.is_none() || goes_on, "PAGE-6: the next page begins behind this one");
        if let Some(next) = page.continuation {
            self.cursors.push(Cursor { table, query: query.clone(), next });
        }
    }
}

fn place(position: &Position) -> (Vec<u16>, Vec<u16>) {
    let row_key = position.row_key.as_deref().unwrap_or_default();
    (position.partition_key.encode_utf16().collect(), row_key.encode_utf16().collect())
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

/// Returns the properties sorted by name. Each value is formatted as text, so NaN is equal to itself.
fn read(row: RowView<'_>) -> Vec<(String, String)> {
    let properties =
        row.properties().map(|property| property.map(|p| (p.name.to_owned(), p.value.to_owned())));
    let properties: Result<BTreeMap<String, Value>> = properties.collect();
    let properties = properties.unwrap_or_else(|error| panic!("{error}"));
    properties.into_iter().map(|(name, value)| (name, format!("{value:?}"))).collect()
}

fn entities(page: &Page) -> Vec<Read> {
    let entity = |entity: table_core::query::EntityRef<'_>| {
        (entity.partition_key.to_owned(), entity.row_key.to_owned(), read(entity.row))
    };
    page.rows.iter().map(entity).collect()
}

fn names<S: TableStore>(store: &S, prefix: &str, top: usize) -> Vec<String> {
    let (mut names, mut from) = (Vec::new(), None::<String>);
    loop {
        let page = block_on(store.list_tables(prefix, from.as_deref(), top));
        let page = page.unwrap_or_else(|error| panic!("{error}"));
        assert!(page.names.len() <= top);
        names.extend(page.names.iter().map(|name| name.as_str().to_owned()));
        from = page.next;
        if from.is_none() {
            return names;
        }
    }
}
