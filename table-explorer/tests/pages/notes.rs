//! Tests of saved queries, exports, and the pages about queues, feeds and index states.

use http::StatusCode;
use table_core::queue::{DynQueueStore, PutMessage};
use table_core::{
    DynTableStore, Engine, PartitionKey, QueueName, QueueStore, RowKey, TableEntity, TableName, TableStore,
    TableStoreExt, Transaction, Value,
};
use table_explorer::{Explorer, Source, demo};
use table_patterns::feed::{Feed, FeedChange};

use crate::browser::{Browser, hidden};
use crate::counting_store::Counting;

const QUERY: &str = "/t/Company/q?part.department=Sales&property=Age&is=ge&value=30&run=1";

#[tokio::test]
async fn a_query_is_saved_in_a_file_and_opened_by_another_explorer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tables-queries.json");
    let open = async |is_writable| {
        let source = demo::source().await.unwrap().with_notebook(&file);
        Browser::open(if is_writable { Explorer::writable(source) } else { Explorer::new(source) }).await
    };
    let browser = open(false).await;
    let page = browser.page(QUERY).await;
    let (csrf, query) = (hidden(&page, "csrf"), hidden(&page, "query"));
    let name = "<script>alert(1)</script>";
    let saved = browser.post("/t/Company/keep", &[("csrf", &csrf), ("query", &query), ("name", name)]).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    let unnamed = browser.post("/t/Company/keep", &[("csrf", &csrf), ("query", &query), ("name", " ")]).await;
    assert_eq!(unnamed.status, StatusCode::BAD_REQUEST);
    let other = open(true).await;
    let page = other.page("/queries").await;
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"), "{page}");
    assert!(page.contains("department=Sales Age ge 30"), "{page}");
    assert_eq!(
        page.matches("/t/Company/q?part.department=Sales&amp;property=Age").count(),
        2,
        "saved, and in the history"
    );
    let csrf = hidden(&page, "csrf");
    let fields = [("csrf", csrf.as_str()), ("table", "Company"), ("query", query.as_str()), ("name", name)];
    other.post("/queries/forget", &fields).await;
    let page = browser.page("/queries").await;
    assert!(page.contains("No query is saved") && page.contains("department=Sales"), "{page}");
}

#[tokio::test]
async fn a_history_that_cannot_be_written_does_not_hide_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("queries.json");
    std::fs::write(&file, "not JSON").unwrap();
    let browser = Browser::open(Explorer::new(demo::source().await.unwrap().with_notebook(&file))).await;
    let page = browser.page(QUERY).await;
    assert!(page.contains("rows found") && page.contains("The history was not written"), "{page}");
}

#[tokio::test]
async fn an_export_of_csv_has_the_columns_of_all_rows() {
    let engine = Engine::in_memory();
    let table = engine.untyped("Company").unwrap().create_if_missing().await.unwrap();
    for row in 0..1_500 {
        let entity = TableEntity::new("Sales", format!("{row:04}")).unwrap();
        let late: Value = if row == 1_400 { "x,y".into() } else { 1.into() };
        table.insert(&entity.with(if row < 1_400 { "Early" } else { "Late" }, late)).await.unwrap();
    }
    let body = Browser::reading(&engine).await.page("/t/Company/export?partition=Sales&as=csv").await;
    let lines: Vec<_> = body.lines().collect();
    assert_eq!(
        (lines.len(), lines[0]),
        (1_501, "PartitionKey,RowKey,Timestamp,Early,Early@type,Late,Late@type")
    );
    assert!(lines[1_401].ends_with(",,,\"x,y\",Edm.String"), "{}", lines[1_401]);
}

/// Writes changes with ascending numbers to the feed of a partition.
async fn changes(engine: &Engine, count: usize) {
    let (feed, table) = (Feed::new(engine.clone()), TableName::new("Company").unwrap());
    engine.untyped("Company").unwrap().create_if_missing().await.unwrap();
    for number in 1..=count {
        let source = RowKey::new(format!("row-{number}")).unwrap();
        let transaction =
            Transaction::new(PartitionKey::new("Sales").unwrap(), engine.capabilities().limits).unwrap();
        let change = FeedChange { source: &source, kind: "<img src=x>", payload: b"" };
        feed.submit(&table, transaction, &[change]).await.unwrap();
    }
}

/// Returns the numbers of the rows whose changes a page lists.
fn sources(page: &str) -> Vec<usize> {
    page.split("<bdi>row-").skip(1).map(|rest| rest.split('<').next().unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn a_feed_shows_its_newest_entries_first_and_older_ones_page_by_page() {
    let engine = Engine::in_memory();
    changes(&engine, 250).await;
    let browser = Browser::reading(&engine).await;
    let (mut at, mut found) = ("/t/Company/feed?pk=Sales".to_owned(), Vec::new());
    for page in 0..3 {
        let body = browser.page(&at).await;
        assert_eq!(body.contains("data-events"), page == 0, "only the newest page is live");
        assert!(!body.contains("<img"), "{body}");
        found.extend(sources(&body));
        let older = body.split("class=\"btn next\" href=\"").nth(1);
        at = older.map(|link| link.split('"').next().unwrap().replace("&amp;", "&")).unwrap_or_default();
    }
    assert_eq!(found, (1..=250).rev().collect::<Vec<_>>());
    assert_eq!(at, "", "the beginning of the feed has no older page");
}

#[tokio::test]
async fn queues_are_listed_and_their_messages_peeked() {
    let engine = Engine::in_memory();
    let queue = QueueName::new("jobs").unwrap();
    engine.create_queue(&queue).await.unwrap();
    for text in ["<script>alert(1)</script>", "second"] {
        engine.put(&queue, PutMessage::new(text)).await.unwrap();
    }
    let source = Source::new(DynTableStore::new(engine.clone()), "queues").with_engine(engine.clone());
    let browser = Browser::open(Explorer::new(source)).await;
    let page = browser.page("/queues").await;
    assert!(page.contains("<b>jobs</b>"), "{page}");
    for _ in 0..2 {
        let page = browser.page("/queues?name=jobs").await;
        assert!(page.contains("2 messages shown of about 2"), "a peek hides no message: {page}");
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script>alert"), "{page}");
    }
    let messages = engine.peek(&queue, 2).await.unwrap();
    assert!(messages.iter().all(|message| message.dequeue_count == 0));
    assert_eq!(browser.get("/queues?name=missing").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_queue_that_is_deleted_after_it_was_listed_hides_no_other_queue() {
    let (listed, counted) = (Engine::in_memory(), Engine::in_memory());
    let [kept, deleted] = ["kept", "deleted"].map(|name| QueueName::new(name).unwrap());
    for (engine, queue) in [(&listed, &kept), (&listed, &deleted), (&counted, &kept)] {
        engine.create_queue(queue).await.unwrap();
    }
    let source = Source::new(DynTableStore::new(listed.clone()), "queues")
        .with_queues(DynQueueStore::new(counted))
        .with_engine(listed);
    let page = Browser::open(Explorer::new(source)).await.page("/queues").await;
    assert!(page.contains("<b>kept</b>") && !page.contains("<b>deleted</b>"), "{page}");
}

#[tokio::test]
async fn stores_with_the_same_name_and_other_identities_have_their_own_queries() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("queries.json");
    let open = async |identity: &str| {
        let source = demo::source().await.unwrap().with_identity(identity).with_notebook(&file);
        Browser::open(Explorer::new(source)).await
    };
    let (one, other) = (open("/a/data").await, open("/b/data").await);
    one.page(QUERY).await;
    assert!(one.page("/queries").await.contains("department=Sales"));
    assert!(other.page("/queries").await.contains("No query has run"));
}

#[tokio::test]
async fn pending_work_shows_its_depth_and_the_age_of_the_oldest() {
    let browser = Browser::open(Explorer::new(demo::source().await.unwrap())).await;
    let page = browser.page("/work").await;
    for text in ["<dt>pending</dt><dd>2</dd>", "<dt>set aside</dt><dd>1</dd>", "<dt>oldest pending</dt><dd>"]
    {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    assert!(page.contains("/work?queue=helpdesk"), "the queues of outboxes are found: {page}");
}

#[tokio::test]
async fn a_table_shows_the_states_of_its_indexes() {
    let engine = Engine::in_memory();
    demo::fill(&engine).await.unwrap();
    let browser = Browser::reading(&engine).await;
    let page = browser.page("/t/HelpDesk").await;
    assert!(page.contains("ByStatus ready") && page.contains("ByEmail ready"), "{page}");
    let layouts = engine.untyped(table_core::table::LAYOUTS).unwrap();
    let key = table_core::EntityKey::new("helpdesk", "Ticket").unwrap();
    let mut row = layouts.get(&key).await.unwrap().unwrap().value().clone();
    row.insert("Pending", "index ByStatus");
    row.insert(
        "Progress",
        "index ByStatus\t{\"pass\":{\"id\":1,\"at\":{\"next\":{\"phase\":\"entities\"}}}}",
    );
    layouts.insert_or_replace(&row).await.unwrap();
    let page = browser.page("/t/HelpDesk").await;
    assert!(page.contains("ByStatus building, step 2 of 2") && page.contains("ByEmail ready"), "{page}");
}

#[tokio::test]
async fn a_feed_that_cannot_be_read_says_why() {
    let engine = Engine::in_memory();
    changes(&engine, 3).await;
    let store = Counting::new(&engine);
    let browser = Browser::open(Explorer::new(Source::new(DynTableStore::new(store.clone()), "test"))).await;
    browser.page("/").await;
    store.fail_reads();
    let events = browser.download("/t/Company/events?pk=Sales").await.unwrap();
    let text = String::from_utf8_lossy(&events);
    assert!(
        text.contains("event: live")
            && text.contains("event: failed\ndata: ")
            && text.contains("the answer is lost"),
        "{text}"
    );
}
