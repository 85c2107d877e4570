//! Tests that bulk changes keep wide entities whole and do not rewind sequences, even if rows change after they have been checked.

use http::StatusCode;
use table_core::limits::Limits;
use table_core::query::Select;
use table_core::{
    DynTableStore, Engine, EntityKey, IfMatch, Operation, OperationKind, PartitionKey, TableEntity,
    TableName, TableStore, TableStoreExt, Transaction, ValueRef,
};
use table_explorer::{Explorer, Source};

use crate::browser::{Browser, hidden};
use crate::bulk::{engine, marks, stored};
use crate::counting_store::Counting;

/// Writes 99 plain rows and the two parts of a wide entity, which sort after them. Returns the parts.
async fn with_parts(engine: &Engine) -> [TableEntity; 2] {
    let table = engine.untyped("Company").unwrap();
    for row in 0..99 {
        let entity = TableEntity::new("Wide", format!("a{row:03}")).unwrap();
        table.insert(&entity.with("Age", row)).await.unwrap();
    }
    let part = |row_key: &str| TableEntity::new("Wide", row_key).unwrap().with("WriteId", uuid::Uuid::nil());
    let parts = [part("w_01"), part("w_02")];
    for part in &parts {
        table.insert(part).await.unwrap();
    }
    parts
}

/// Returns the number of stored parts of the wide entity.
async fn parts(engine: &Engine) -> usize {
    let parts = [stored(engine, "Wide", "w_01").await, stored(engine, "Wide", "w_02").await];
    parts.iter().flatten().count()
}

#[tokio::test]
async fn the_parts_of_a_wide_entity_are_deleted_in_one_transaction() {
    for (operations, deleted, refused, left) in [(100, 2, 99, 0), (1, 99, 2, 2)] {
        let engine = engine(0).await;
        with_parts(&engine).await;
        let store = Counting::new(&engine).with_operations(operations);
        let source = Source::new(DynTableStore::new(store.clone()), "test");
        let browser = Browser::open(Explorer::writable(source)).await;
        let page = browser.page("/t/Company/q?run=1&top=1000").await;
        let (csrf, marks) = (hidden(&page, "csrf"), marks(&page));
        assert_eq!(marks.len(), 101);
        let mut fields = vec![("csrf", csrf.as_str()), ("sure", "1")];
        fields.extend(marks.iter().map(|mark| ("row", mark.as_str())));
        if operations > 1 {
            let changed = TableEntity::new("Wide", "a000").unwrap().with("Age", 99);
            engine.untyped("Company").unwrap().insert_or_replace(&changed).await.unwrap();
        }
        let answer = browser.post("/t/Company/delete-marked", &fields).await;
        assert_eq!(answer.status, StatusCode::CONFLICT);
        assert!(answer.body.contains(&format!("{deleted} rows deleted")), "{:.3000}", answer.body);
        assert!(answer.body.contains(&format!("{refused} rows of partition")), "{:.3000}", answer.body);
        assert_eq!(parts(&engine).await, left);
    }
}

#[tokio::test]
async fn the_parts_of_a_wide_entity_are_pasted_in_one_transaction() {
    let engine = engine(0).await;
    with_parts(&engine).await;
    let table = engine.untyped("Company").unwrap();
    for row_key in ["w_01", "w_02"] {
        table.delete(&EntityKey::new("Wide", row_key).unwrap(), IfMatch::Any).await.unwrap();
    }
    let browser = Browser::writing(&engine).await;
    let csrf = hidden(&browser.page("/t/Company/paste").await, "csrf");
    let nil = uuid::Uuid::nil();
    let plain = |row: usize| format!("Wide,a{row:03},,\n");
    let rows: String = (0..99).map(plain).collect();
    let parts_of = format!("Wide,w_01,Edm.Guid,{nil}\nWide,w_02,Edm.Guid,{nil}\n");
    let text = format!("PartitionKey,RowKey,WriteId@type,WriteId\n{rows}{parts_of}");
    let fields = [("csrf", csrf.as_str()), ("text", text.as_str()), ("sure", "1")];
    let written = browser.post("/t/Company/paste", &fields).await;
    assert_eq!(written.status, StatusCode::CONFLICT, "{:.3000}", written.body);
    assert!(written.body.contains("2 rows written"), "{:.3000}", written.body);
    assert_eq!(parts(&engine).await, 2);
}

/// Tests that a sequence is not rewound if it advances after the pasted rows were checked and before they are written.
#[tokio::test]
async fn a_sequence_that_advances_before_it_is_written_is_not_set_back() {
    let engine = engine(0).await;
    let row_key = "\u{FFFC}sequence_orders";
    let advance = async |next: i64| {
        let sequence = TableEntity::new("Sales", row_key).unwrap().with("Next", next);
        let mut transaction =
            Transaction::new(PartitionKey::new("Sales").unwrap(), Limits::PORTABLE).unwrap();
        let kind = OperationKind::InsertOrReplace(sequence.to_row().unwrap());
        transaction.push(Operation { row_key: sequence.key().row_key.clone(), kind }).unwrap();
        engine.submit(&TableName::new("Company").unwrap(), transaction).await.unwrap();
    };
    advance(9).await;
    let store = Counting::new(&engine);
    let browser =
        Browser::open(Explorer::writable(Source::new(DynTableStore::new(store.clone()), "test"))).await;
    let csrf = hidden(&browser.page("/t/Company/paste").await, "csrf");
    let text = format!("PartitionKey,RowKey,Next,Next@type\nSales,{row_key},12,Edm.Int64\n");
    let fields = [("csrf", csrf.as_str()), ("text", text.as_str()), ("replace", "1"), ("sure", "1")];
    store.hold(true);
    let mut request = Box::pin(browser.post("/t/Company/paste", &fields));
    while store.writes() == 0 {
        tokio::select! {
            biased;
            _ = &mut request => panic!("the request is answered before the writes"),
            () = tokio::task::yield_now() => {}
        }
    }
    advance(20).await;
    store.hold(false);
    let written = request.await;
    assert_eq!(written.status, StatusCode::CONFLICT, "{:.3000}", written.body);
    let (name, key) = (TableName::new("Company").unwrap(), EntityKey::new("Sales", row_key).unwrap());
    let found = engine.get(&name, &key, &Select::All).await.unwrap().unwrap();
    assert_eq!(found.row.view().find("Next", &mut 0).unwrap(), Some(ValueRef::Int64(20)));
}
