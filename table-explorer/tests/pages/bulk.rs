//! Tests of changes to several rows. Marked rows are deleted and pasted rows are written in batches, after a preview.

use http::StatusCode;
use table_core::limits::Limits;
use table_core::{
    DynTableStore, Engine, EntityKey, Operation, OperationKind, PartitionKey, TableEntity, TableName,
    TableStore, TableStoreExt, Transaction, Value,
};
use table_explorer::{Explorer, Source, demo};

use crate::browser::{Browser, hidden};
use crate::counting_store::Counting;

pub(crate) async fn engine(rows: u32) -> Engine {
    let engine = Engine::in_memory();
    let table = engine.untyped("Company").unwrap().create_if_missing().await.unwrap();
    for row in 0..rows {
        let entity =
            TableEntity::new(if row % 2 == 0 { "Sales" } else { "Legal" }, format!("{row:03}")).unwrap();
        table.insert(&entity.with("Age", i32::try_from(row).unwrap())).await.unwrap();
    }
    engine
}

pub(crate) async fn stored(engine: &Engine, partition_key: &str, row_key: &str) -> Option<TableEntity> {
    let key = EntityKey::new(partition_key, row_key).unwrap();
    let table = engine.untyped("Company").unwrap();
    table.get(&key).await.unwrap().map(|found| found.value().clone())
}

/// Returns the values of the checkboxes on a page.
pub(crate) fn marks(page: &str) -> Vec<String> {
    let boxes = page.split("<input type=\"checkbox\" name=\"row\" form=\"marked\" value=\"").skip(1);
    boxes.map(|rest| rest.split('"').next().unwrap().replace("&quot;", "\"")).collect()
}

#[tokio::test]
async fn marked_rows_are_deleted_after_a_preview_and_a_changed_row_keeps_its_group() {
    let engine = engine(20).await;
    let browser = Browser::writing(&engine).await;
    let page = browser.page("/t/Company/q?run=1").await;
    let (csrf, marks) = (hidden(&page, "csrf"), marks(&page));
    assert_eq!(marks.len(), 20);
    let mut fields = vec![("csrf", csrf.as_str())];
    fields.extend(marks.iter().map(|mark| ("row", mark.as_str())));
    let preview = browser.post("/t/Company/marked", &fields).await;
    assert!(preview.body.contains("Delete 20 rows of Company?"), "{}", preview.body);
    let unsure = browser.post("/t/Company/delete-marked", &fields).await;
    assert_eq!(unsure.status, StatusCode::BAD_REQUEST);
    assert!(stored(&engine, "Sales", "000").await.is_some(), "a preview deletes nothing");
    let changed = TableEntity::new("Legal", "001").unwrap().with("Age", 99);
    engine.untyped("Company").unwrap().insert_or_replace(&changed).await.unwrap();
    fields.push(("sure", "1"));
    let deleted = browser.post("/t/Company/delete-marked", &fields).await;
    assert_eq!(deleted.status, StatusCode::CONFLICT);
    assert!(
        deleted.body.contains("10 rows deleted") && deleted.body.contains("10 rows of partition"),
        "{}",
        deleted.body
    );
    assert!(stored(&engine, "Sales", "000").await.is_none());
    assert_eq!(stored(&engine, "Legal", "001").await.unwrap().get("Age"), Some(&Value::Int32(99)));
    assert!(stored(&engine, "Legal", "003").await.is_some(), "a group is deleted as a whole or not at all");
}

#[tokio::test]
async fn more_rows_than_a_transaction_allows_are_deleted_in_groups() {
    for (operations, groups) in [(100, 4), (7, 34)] {
        let store = Counting::new(&engine(230).await).with_operations(operations);
        let source = Source::new(DynTableStore::new(store.clone()), "test");
        let browser = Browser::open(Explorer::writable(source)).await;
        let page = browser.page("/t/Company/q?run=1&top=1000").await;
        let (csrf, marks) = (hidden(&page, "csrf"), marks(&page));
        let mut fields = vec![("csrf", csrf.as_str()), ("sure", "1")];
        fields.extend(marks.iter().map(|mark| ("row", mark.as_str())));
        let preview = browser.post("/t/Company/marked", &fields).await;
        assert!(preview.body.contains(&format!("up to {operations} in a transaction")), "{}", preview.body);
        let deleted = browser.post("/t/Company/delete-marked", &fields).await;
        assert_eq!(deleted.status, StatusCode::OK, "{}", deleted.body);
        assert!(deleted.body.contains("230 rows deleted") && store.writes() == groups, "{}", store.writes());
    }
}

const CSV: &str = "PartitionKey,RowKey,Age,Name\nSales,900,41,\"Ada, the first\"\nSales,901,,<b>\n";

#[tokio::test]
async fn pasted_rows_are_shown_first_and_written_once_confirmed() {
    let engine = engine(1).await;
    let browser = Browser::writing(&engine).await;
    let csrf = hidden(&browser.page("/t/Company/paste").await, "csrf");
    let preview = browser.post("/t/Company/paste", &[("csrf", &csrf), ("text", CSV)]).await;
    assert!(
        preview.body.contains("2 rows for Company") && preview.body.contains("Ada, the first"),
        "{}",
        preview.body
    );
    assert!(!preview.body.contains("<b></bdi>") && stored(&engine, "Sales", "900").await.is_none());
    let fields = [("csrf", csrf.as_str()), ("text", CSV), ("sure", "1")];
    let written = browser.post("/t/Company/paste", &fields).await;
    assert!(written.body.contains("2 rows written"), "{}", written.body);
    let found = stored(&engine, "Sales", "900").await.unwrap();
    assert_eq!((found.get("Age"), found.len()), (Some(&Value::Int32(41)), 2));
    assert_eq!(stored(&engine, "Sales", "901").await.unwrap().len(), 1, "an empty cell is not a property");
    let again = browser.post("/t/Company/paste", &fields).await;
    assert!(again.status == StatusCode::CONFLICT && again.body.contains("0 rows written"), "{}", again.body);
    let replaced = browser.post("/t/Company/paste", &[&fields[..], &[("replace", "1")]].concat()).await;
    assert_eq!(replaced.status, StatusCode::OK);
}

#[tokio::test]
async fn a_preview_explains_keys_by_a_schema_that_was_stored_after_the_catalog_was_read() {
    let engine = engine(1).await;
    let browser = Browser::writing(&engine).await;
    let csrf = hidden(&browser.page("/t/Company/paste").await, "csrf");
    demo::fill(&engine).await.unwrap();
    let text = "PartitionKey,RowKey,Age\nSales,empid_000990,41\n";
    let preview = browser.post("/t/Company/paste", &[("csrf", &csrf), ("text", text)]).await;
    assert!(preview.body.contains("<small>RowKey</small>"), "the parts are columns: {}", preview.body);
}

#[tokio::test]
async fn a_paste_with_one_wrong_row_writes_nothing() {
    let engine = engine(1).await;
    let browser = Browser::writing(&engine).await;
    let csrf = hidden(&browser.page("/t/Company/paste").await, "csrf");
    let text = "PartitionKey,RowKey,Age,Age@type\nSales,900,41,Edm.Int32\nSales,901,old,Edm.Int32\n";
    let refused = browser.post("/t/Company/paste", &[("csrf", &csrf), ("text", text), ("sure", "1")]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(
        refused.body.contains("line 3, column 3: property `Age`: `old` is not Edm.Int32"),
        "{}",
        refused.body
    );
    assert!(stored(&engine, "Sales", "900").await.is_none());
}

#[tokio::test]
async fn bulk_changes_are_refused_where_single_changes_are() {
    let reading = Browser::reading(&engine(2).await).await;
    let csrf = hidden(&reading.page("/engine").await, "csrf");
    let fields =
        [("csrf", csrf.as_str()), ("row", "[\"Sales\",\"000\",\"x\"]"), ("text", CSV), ("sure", "1")];
    assert!(!reading.page("/t/Company/p?pk=Sales").await.contains("type=\"checkbox\""));
    for page in ["marked", "delete-marked", "paste"] {
        let refused = reading.post(&format!("/t/Company/{page}"), &fields).await;
        assert!(refused.body.contains("changes are off"), "{page}: {}", refused.body);
    }
    let writing = Browser::open(Explorer::writable(demo::source().await.unwrap())).await;
    assert!(!writing.page("/t/HelpDesk/p?pk=contoso").await.contains("type=\"checkbox\""));
    let csrf = hidden(&writing.page("/engine").await, "csrf");
    let refused = writing.post("/t/HelpDesk/paste", &[("csrf", &csrf), ("text", CSV), ("sure", "1")]).await;
    assert!(refused.body.contains("declares"), "{}", refused.body);
    let forged = writing.post("/t/Company/marked", &[("csrf", &csrf), ("row", "[\"<script>\"]")]).await;
    assert_eq!(forged.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_wide_entity_is_changed_as_a_whole_and_a_sequence_is_not_set_back() {
    let engine = Engine::in_memory();
    let table = engine.untyped("Company").unwrap().create_if_missing().await.unwrap();
    let part = |row_key: &str| TableEntity::new("Sales", row_key).unwrap().with("WriteId", uuid::Uuid::nil());
    let sequence = TableEntity::new("Sales", "\u{FFFC}sequence_orders").unwrap().with("Next", 9_i64);
    for row in [part("a_01"), part("a_02")] {
        table.insert(&row).await.unwrap();
    }
    // An untyped table handle rejects keys that patterns use, so this row is written with a transaction on the engine.
    let mut transaction = Transaction::new(PartitionKey::new("Sales").unwrap(), Limits::PORTABLE).unwrap();
    let row_key = sequence.key().row_key.clone();
    transaction.push(Operation { row_key, kind: OperationKind::Insert(sequence.to_row().unwrap()) }).unwrap();
    engine.submit(&TableName::new("Company").unwrap(), transaction).await.unwrap();
    let browser = Browser::writing(&engine).await;
    let page = browser.page("/t/Company/edit?pk=Sales&rk=a_02").await;
    let (csrf, etag) = (hidden(&page, "csrf"), hidden(&page, "etag"));
    let key =
        [("csrf", csrf.as_str()), ("pk", "Sales"), ("rk", "a_02"), ("etag", etag.as_str()), ("sure", "1")];
    let write = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    let other = [&key[..], &[("name", "WriteId"), ("type", "Guid"), ("value", write)]].concat();
    let marks = marks(&browser.page("/t/Company/p?pk=Sales").await);
    let marked = |rows: &[usize]| {
        let rows = rows.iter().map(|row| ("row", marks[*row].as_str()));
        [("csrf", csrf.as_str()), ("sure", "1")].into_iter().chain(rows).collect::<Vec<_>>()
    };
    let back = "PartitionKey,RowKey,Next,Next@type\nSales,\u{FFFC}sequence_orders,8,Edm.Int64\n";
    let pasted = [("csrf", csrf.as_str()), ("text", back), ("replace", "1"), ("sure", "1")];
    for (path, fields, reason) in [
        ("delete", key.to_vec(), "wide entity"),
        ("save", other, "wide entity"),
        ("delete-marked", marked(&[1]), "wide entity"),
        ("paste", pasted.to_vec(), "sequence `orders`"),
    ] {
        let refused = browser.post(&format!("/t/Company/{path}"), &fields).await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{path}: {}", refused.body);
        assert!(refused.body.contains(reason) && !refused.body.contains("bypass"), "{}", refused.body);
    }
    for row in [part("a_01"), part("a_02")] {
        let found = stored(&engine, "Sales", row.key().row_key.as_str()).await.unwrap();
        assert_eq!(found.get("WriteId"), row.get("WriteId"));
    }
    let deleted = browser.post("/t/Company/delete-marked", &marked(&[0, 1])).await;
    assert!(deleted.body.contains("2 rows deleted"), "{}", deleted.body);
}

#[tokio::test]
async fn a_write_without_an_answer_is_reported_as_unknown() {
    let engine = engine(4).await;
    let store = Counting::new(&engine);
    let source = Source::new(DynTableStore::new(store.clone()), "test");
    let browser = Browser::open(Explorer::writable(source)).await;
    let page = browser.page("/t/Company/q?run=1").await;
    let (csrf, marks) = (hidden(&page, "csrf"), marks(&page));
    let mut fields = vec![("csrf", csrf.as_str()), ("sure", "1")];
    fields.extend(marks.iter().map(|mark| ("row", mark.as_str())));
    store.fail();
    let deleted = browser.post("/t/Company/delete-marked", &fields).await;
    assert_eq!(deleted.status, StatusCode::CONFLICT);
    assert!(
        deleted.body.contains("may have been deleted") && !deleted.body.contains("were not deleted"),
        "{}",
        deleted.body
    );
    assert!(stored(&engine, "Sales", "000").await.is_none());
}

#[tokio::test]
async fn a_change_is_finished_after_the_client_has_gone_and_the_table_shows_its_outcome() {
    let engine = engine(230).await;
    let store = Counting::new(&engine);
    let source = Source::new(DynTableStore::new(store.clone()), "test");
    let browser = Browser::open(Explorer::writable(source)).await;
    let page = browser.page("/t/Company/q?run=1&top=1000").await;
    let (csrf, marks) = (hidden(&page, "csrf"), marks(&page));
    let mut fields = vec![("csrf", csrf.as_str()), ("sure", "1")];
    fields.extend(marks.iter().map(|mark| ("row", mark.as_str())));
    store.hold(true);
    let mut request = Box::pin(browser.post("/t/Company/delete-marked", &fields));
    while store.writes() == 0 {
        tokio::select! {
            biased;
            _ = &mut request => panic!("the request is answered before the writes"),
            () = tokio::task::yield_now() => {}
        }
    }
    drop(request);
    store.hold(false);
    let mut page = String::new();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
        page = browser.page("/t/Company").await;
        if page.contains("230 rows deleted") {
            break;
        }
    }
    assert!(
        page.contains("Last change of several rows: 230 rows deleted")
            && page.contains("The table has no rows"),
        "{page}"
    );
}

#[tokio::test]
async fn rows_that_exceed_one_transaction_are_written_in_several() {
    let engine = engine(1).await;
    let browser = Browser::writing(&engine).await;
    let csrf = hidden(&browser.page("/t/Company/paste").await, "csrf");
    let wide = "x".repeat(30_000);
    let line = |row: usize| {
        format!("{{\"PartitionKey\":\"Wide\",\"RowKey\":\"{row:03}\",\"A\":\"{wide}\",\"B\":\"{wide}\"}}\n")
    };
    let text: String = (0..80).map(line).collect();
    let fields = [("csrf", csrf.as_str()), ("text", text.as_str()), ("sure", "1")];
    let written = browser.post("/t/Company/paste", &fields).await;
    assert!(written.body.contains("80 rows written"), "{:.3000}", written.body);
}

#[tokio::test]
async fn a_key_that_is_pasted_twice_is_reported_before_anything_is_written() {
    let engine = engine(1).await;
    let browser = Browser::writing(&engine).await;
    let csrf = hidden(&browser.page("/t/Company/paste").await, "csrf");
    let text = "PartitionKey,RowKey,Age\nSales,900,1\nSales,901,2\nSales,900,3\n";
    for more in [&[("sure", "1")][..], &[("sure", "1"), ("replace", "1")]] {
        let fields = [&[("csrf", csrf.as_str()), ("text", text)], more].concat();
        let refused = browser.post("/t/Company/paste", &fields).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        assert!(
            refused.body.contains("2 rows have the key (&#39;Sales&#39;, &#39;900&#39;)")
                || refused.body.contains("2 rows have the key ('Sales', '900')"),
            "{}",
            refused.body
        );
        assert!(stored(&engine, "Sales", "901").await.is_none());
    }
}
