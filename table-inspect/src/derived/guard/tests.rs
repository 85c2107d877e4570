//! Tests that writes are refused if they would tear a wide entity or rewind a sequence. All other writes are returned in units and with conditions.

use table_core::limits::Limits;
use table_core::{BlockOn, Engine, RowKey, Transaction};

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

/// Tests that the writes to one wide entity form one unit, and that writes to parts and sequences are conditional on the state that was read.
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
