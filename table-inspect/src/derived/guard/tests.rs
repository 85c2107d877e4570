//! Tests that writes which tear a wide entity or set a sequence back are refused, and that the other writes are sent together and with conditions.

use std::fmt;
use std::sync::{Arc, Mutex};

use table_core::limits::Limits;
use table_core::query::{Continuation, Page};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{BlockOn, Engine, RowKey, TableEntity, Transaction, Value};

use super::*;

fn part(row_key: &str, write: u128) -> TableEntity {
    TableEntity::new("p", row_key).unwrap().with("WriteId", Value::Guid(Uuid::from_u128(write)))
}

fn sequence(next: i64) -> TableEntity {
    TableEntity::new("p", "\u{FFFC}sequence_orders").unwrap().with("Next", next)
}

fn plain(row_key: &str) -> TableEntity {
    TableEntity::new("p", row_key).unwrap().with("Age", 1)
}

fn replace(entity: &TableEntity) -> (RowKey, OperationKind) {
    (entity.key().row_key.clone(), OperationKind::InsertOrReplace(entity.to_row().unwrap()))
}

fn merge(entity: &TableEntity) -> (RowKey, OperationKind) {
    (entity.key().row_key.clone(), OperationKind::InsertOrMerge(entity.to_row().unwrap()))
}

fn delete(row_key: &str) -> (RowKey, OperationKind) {
    (RowKey::new(row_key).unwrap(), OperationKind::Delete(IfMatch::Any))
}

/// Returns `true` if the guard rejects the writes.
fn is_refused(writes: Vec<(RowKey, OperationKind)>) -> bool {
    match guarded(writes) {
        Ok(_) => false,
        Err(Error::Derived(_)) => true,
        Err(error) => panic!("{error}"),
    }
}

fn guarded(writes: Vec<(RowKey, OperationKind)>) -> Result<Vec<Vec<Operation>>> {
    let operations: Vec<_> = writes.into_iter().map(|(row_key, kind)| Operation { row_key, kind }).collect();
    async {
        let engine = Engine::in_memory();
        let (store, name) = (DynTableStore::new(engine), TableName::new("Things").unwrap());
        store.create_table(&name).await.unwrap();
        let mut stored = Transaction::new(PartitionKey::new("p").unwrap(), Limits::PORTABLE).unwrap();
        for row in [part("a_01", 1), part("a_02", 1), part("b_01", 7), sequence(9), plain("c_01")] {
            let (row_key, kind) = replace(&row);
            stored.push(Operation { row_key, kind }).unwrap();
        }
        store.submit(&name, stored).await.unwrap();
        guard_writes(&store, &name, &PartitionKey::new("p").unwrap(), operations).await
    }
    .block_on()
}

/// Tests that the writes to one wide entity are one unit, and that writes to parts and sequences are conditional on the state that was read.
#[test]
fn writes_are_returned_in_units_with_the_conditions_that_were_read() {
    let writes = vec![
        replace(&part("a_01", 2)),
        delete("a_01_01"),
        replace(&part("a_02", 2)),
        replace(&part("a_03", 2)),
        delete("b_01"),
        replace(&part("c_01", 3)),
        replace(&plain("c_02")),
        merge(&plain("d")),
        replace(&sequence(10)),
        merge(&plain("\u{FFFC}sequence_orders").with("Next", 11_i64)),
        merge(&plain("\u{FFFC}sequence_orders")),
        replace(&TableEntity::new("p", "\u{FFFC}sequence_new").unwrap().with("Next", 1_i64)),
    ];
    let units = guarded(writes).unwrap();
    let shown = |operation: &Operation| {
        let condition = match &operation.kind {
            OperationKind::Replace(_, IfMatch::ETag(_))
            | OperationKind::Merge(_, IfMatch::ETag(_))
            | OperationKind::Delete(IfMatch::ETag(_)) => " if unchanged",
            _ => "",
        };
        format!("{} {}{condition}", operation.kind.name(), operation.row_key.as_str())
    };
    let shown: Vec<_> = units.iter().map(|unit| unit.iter().map(shown).collect::<Vec<_>>()).collect();
    assert_eq!(
        shown,
        [
            &["replace a_01 if unchanged", "replace a_02 if unchanged", "insert a_03"][..],
            &["delete a_01_01"],
            &["delete b_01 if unchanged"],
            &["replace c_01 if unchanged"],
            &["insert-or-replace c_02"],
            &["insert-or-merge d"],
            &["replace \u{FFFC}sequence_orders if unchanged"],
            &["merge \u{FFFC}sequence_orders if unchanged"],
            &["insert-or-merge \u{FFFC}sequence_orders"],
            &["insert \u{FFFC}sequence_new"],
        ]
    );
}

/// Tests that rows between two distant entities are not read.
#[test]
fn only_the_ranges_of_the_written_entities_are_read() {
    let (requests, rows) = async {
        let engine = Engine::in_memory();
        let (store, name) = (DynTableStore::new(engine.clone()), TableName::new("Things").unwrap());
        store.create_table(&name).await.unwrap();
        let keys: Vec<_> = (1..=9)
            .flat_map(|at| [format!("a_{at:02}"), format!("z_{at:02}")])
            .chain((0..9_000).map(|at| format!("m{at:05}")))
            .collect();
        for keys in keys.chunks(100) {
            let mut stored = Transaction::new(PartitionKey::new("p").unwrap(), Limits::PORTABLE).unwrap();
            for key in keys {
                let (row_key, kind) = replace(&part(key, 1));
                stored.push(Operation { row_key, kind }).unwrap();
            }
            store.submit(&name, stored).await.unwrap();
        }
        let operations = |keys: &[&str]| -> Vec<_> {
            let operation = |key: &&str| {
                let (row_key, kind) = replace(&part(key, 1));
                Operation { row_key, kind }
            };
            keys.iter().map(operation).collect()
        };
        let partition = PartitionKey::new("p").unwrap();
        let counting = Counting { engine, read: Arc::default() };
        let store = DynTableStore::new(counting.clone());
        let found = read_parts(&store, &name, &partition, &operations(&["z_01", "a_07"])).await.unwrap();
        let wanted = keys.iter().filter(|key| !key.starts_with('m'));
        assert!(wanted.clone().all(|key| found.parts.contains_key(key)));
        assert_eq!(found.parts.len(), wanted.count());
        *counting.read.lock().unwrap()
    }
    .block_on();
    assert!(requests == 2 && rows < 1_100, "{requests} requests for {rows} rows");
}

/// A store that counts queries and the rows that they return.
#[derive(Clone, Debug)]
struct Counting {
    engine: Engine,
    read: Arc<Mutex<(usize, usize)>>,
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store that counts")
    }
}

impl TableStore for Counting {
    fn capabilities(&self) -> &Capabilities {
        self.engine.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> table_core::Result<()> {
        self.engine.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> table_core::Result<()> {
        self.engine.delete_table(table).await
    }

    async fn list_tables(
        &self,
        prefix: &str,
        from: Option<&str>,
        top: usize,
    ) -> table_core::Result<TablePage> {
        self.engine.list_tables(prefix, from, top).await
    }

    async fn get(
        &self,
        table: &TableName,
        key: &EntityKey,
        select: &Select,
    ) -> table_core::Result<Option<StoredRow>> {
        self.engine.get(table, key, select).await
    }

    async fn query(
        &self,
        table: &TableName,
        query: &Query,
        from: Option<&Continuation>,
    ) -> table_core::Result<Page> {
        let page = self.engine.query(table, query, from).await?;
        let mut read = self.read.lock().unwrap();
        *read = (read.0 + 1, read.1 + page.rows.len());
        drop(read);
        Ok(page)
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> table_core::Result<Committed> {
        self.engine.submit(table, transaction).await
    }
}

#[test]
fn writes_that_keep_entities_whole_are_accepted() {
    for (at, writes) in [
        vec![delete("a_01"), delete("a_02")],
        vec![delete("b_01")],
        vec![delete("c_01"), replace(&plain("c_02"))],
        vec![replace(&part("a_02", 1).with("Age", 3))],
        vec![merge(&plain("a_02"))],
        vec![replace(&plain("a_07"))],
        vec![replace(&part("a_03", 1))],
        vec![replace(&part("a_01", 2)), replace(&part("a_02", 2))],
        vec![replace(&part("a_01", 2)), delete("a_02")],
        vec![replace(&part("d_01", 2))],
        vec![replace(&sequence(9)), merge(&plain("\u{FFFC}sequence_orders"))],
        vec![replace(&sequence(10))],
    ]
    .into_iter()
    .enumerate()
    {
        assert!(!is_refused(writes), "{at}");
    }
}

#[test]
fn writes_that_tear_an_entity_or_set_a_sequence_back_are_refused() {
    for (at, writes) in [
        vec![delete("a_01")],
        vec![delete("b_01"), delete("a_02")],
        vec![replace(&part("a_02", 2))],
        vec![merge(&part("a_02", 2))],
        vec![replace(&plain("a_02"))],
        vec![replace(&part("a_03", 2))],
        vec![replace(&part("a_01", 2)), replace(&part("a_02", 3))],
        vec![replace(&sequence(8))],
        vec![merge(&sequence(8))],
        vec![replace(&plain("\u{FFFC}sequence_orders"))],
        vec![delete("\u{FFFC}sequence_orders")],
    ]
    .into_iter()
    .enumerate()
    {
        assert!(is_refused(writes), "{at}");
    }
}
