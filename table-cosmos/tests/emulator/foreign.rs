//! Tests of items written by other programs. A point read of such an item fails with an error that contains its key, and a query skips and reports it.

use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::row::RowWriter;
use table_core::{
    EntityKey, Error, ErrorCode, IfMatch, Operation, OperationKind, PartitionKey, RowKey, TableName,
    TableStore, Transaction, ValueRef,
};
use table_cosmos::Options;

use crate::partitioned::Partitioned;
use crate::{runtime, store};

const KEY: &str = r#"["contoso","ada"]"#;

/// Items written by other programs, each with the partition key `["contoso","ada"]`.
const FOREIGN: [&str; 6] = [
    r#"{"id": "7", "l1": "contoso", "l2": "ada", "name": "written by hand"}"#,
    r#"{"id": "7", "l1": "contoso", "l2": "ada", "p": {"A": {"nested": true}}}"#,
    r#"{"id": "7", "l1": "contoso", "l2": "ada", "p": {"A": null}}"#,
    r#"{"id": "7", "l1": "contoso", "l2": "ada", "p": {"A": "x"}, "t": {"A": "Int64"}}"#,
    r#"{"id": "7", "l1": "contoso", "l2": "ada", "l3": "s1", "p": {}}"#,
    r#"{"id": "7", "l1": "contoso", "l2": "ada", "p": {"not a name": 1}}"#,
];

async fn with_item(item: &str) -> (Partitioned, TableName) {
    let store = store(4, Options::new().levels("Events", 2)).await;
    let table = store.create("Events", 2);
    store.emulator.put(&table, KEY, item).await.unwrap();
    (store, table)
}

fn is_told(error: &Error, item: &str) {
    assert_eq!((error.code(), error.rule()), (ErrorCode::Corrupted, Some("WIRE-6")), "{item}: {error}");
    assert_eq!(error.key(), Some(("contoso!ada!", "7")), "{item}: {error}");
    assert_eq!(error.table(), Some("Events"), "{item}: {error}");
}

fn write(store: &Partitioned, kind: OperationKind) -> Transaction {
    let limits = store.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("contoso!ada!").unwrap(), limits).unwrap();
    transaction.push(Operation { row_key: RowKey::new("7").unwrap(), kind }).unwrap();
    transaction
}

#[test]
fn wire_6_an_item_of_another_program_is_an_error_with_its_key() {
    runtime().block_on(async {
        for item in FOREIGN {
            let (store, table) = with_item(item).await;
            let key = EntityKey::new("contoso!ada!", "7").unwrap();
            is_told(&store.get(&table, &key, &Select::All).await.unwrap_err(), item);
            let point = KeyRange {
                partition_key: TextRange::exactly("contoso!ada!"),
                row_key: TextRange::exactly("7"),
            };
            let prefix = KeyRange { partition_key: TextRange::prefix("contoso!"), row_key: TextRange::ALL };
            is_told(&store.query(&table, &Query::new(point), None).await.unwrap_err(), item);
            let strict = Options::new().levels("Events", 2).refuse_foreign_items(true);
            let strict = store.emulator.open(strict).await.unwrap();
            for (asked, keys) in (1..).zip([KeyRange::partition("contoso!ada!"), prefix, KeyRange::ALL]) {
                let query = Query::new(keys);
                is_told(&strict.query(&table, &query, None).await.unwrap_err(), item);
                let page = store.query(&table, &query, None).await.unwrap();
                assert_eq!((page.rows.len(), page.skipped), (0, 1), "{item}");
                let skipped = store.store.skipped_items();
                assert_eq!((skipped.count, skipped.latest.len() as u64), (asked, asked));
                is_told(&skipped.latest[0], item);
            }
            // A merge fails, because it reads the item. A replace does not read it, and succeeds.
            let mut row = RowWriter::new();
            row.property("A", ValueRef::Int32(1));
            let row = row.finish();
            for kind in
                [OperationKind::Merge(row.clone(), IfMatch::Any), OperationKind::InsertOrMerge(row.clone())]
            {
                is_told(&store.submit(&table, write(&store, kind)).await.unwrap_err(), item);
            }
            store.submit(&table, write(&store, OperationKind::Replace(row, IfMatch::Any))).await.unwrap();
            assert!(store.get(&table, &key, &Select::All).await.unwrap().is_some());
        }
    });
}

/// Tests that a scan reads every row that this library wrote, and reports the items that other programs wrote, wherever they are stored.
#[test]
fn wire_6_a_scan_does_not_stop_at_an_item_of_another_program() {
    runtime().block_on(async {
        let (store, table) = with_item(FOREIGN[0]).await;
        for row in 0..200 {
            let limits = store.capabilities().limits;
            let key = PartitionKey::new(format!("t{}!u{}!", row % 5, row % 50)).unwrap();
            let mut insert = Transaction::new(key, limits).unwrap();
            let row_key = RowKey::new(format!("{row:03}")).unwrap();
            let kind = OperationKind::Insert(RowWriter::new().finish());
            insert.push(Operation { row_key, kind }).unwrap();
            store.submit(&table, insert).await.unwrap();
        }
        let (mut rows, mut read, mut from) = (0, 0, None);
        let query = Query { top: Some(9), ..Query::new(KeyRange::ALL) };
        loop {
            let page = store.query(&table, &query, from.as_ref()).await.unwrap();
            rows += page.rows.len();
            read += page.rows_read.unwrap();
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
        assert_eq!((rows, read), (200, 201));
        let skipped = store.store.skipped_items();
        assert_eq!(skipped.count, 1);
        is_told(&skipped.latest[0], FOREIGN[0]);
    });
}

/// Tests that a corrupted item with a write identifier is never skipped. The identifier shows that this library wrote the item.
#[test]
fn wire_6_a_damaged_item_of_this_library_stops_a_scan() {
    runtime().block_on(async {
        let damaged = r#"{"id": "7", "l1": "contoso", "l2": "ada", "p": {"A": "x"}, "t": {"A": "Int64"},
                "o": "0123456789abcdef0123456789abcdef"}"#;
        let (store, table) = with_item(damaged).await;
        is_told(&store.query(&table, &Query::new(KeyRange::ALL), None).await.unwrap_err(), damaged);
        assert_eq!(store.store.skipped_items().count, 0);
    });
}

#[test]
fn wire_6_a_missing_level_is_reported_and_hides_no_other_row() {
    runtime().block_on(async {
        let (store, table) = with_item(r#"{"id": "7", "l1": "contoso", "l2": "ada", "p": {}}"#).await;
        // The item lacks the second level, so its key is (contoso, undefined), which is not a PartitionKey.
        store
            .emulator
            .put(&table, r#"["contoso",{}]"#, r#"{"id": "8", "l1": "contoso", "p": {}}"#)
            .await
            .unwrap();
        let prefix = KeyRange { partition_key: TextRange::prefix("contoso!"), row_key: TextRange::ALL };
        assert_eq!(store.query(&table, &Query::new(prefix), None).await.unwrap().rows.len(), 1);
        let error = store.store.skipped_items().latest.remove(0);
        assert_eq!((error.code(), error.key()), (ErrorCode::Corrupted, Some(("contoso", "8"))), "{error}");
        let whole = Query::new(KeyRange::partition("contoso!ada!"));
        assert_eq!(store.query(&table, &whole, None).await.unwrap().rows.len(), 1);
    });
}
