//! Tests of the contents of pages for the sample tables.

use table_core::{Engine, TableStoreExt};
use table_explorer::{Explorer, demo};

use crate::browser::Browser;

async fn demo() -> Browser {
    Browser::open(Explorer::writable(demo::source().await.unwrap())).await
}

#[tokio::test]
async fn tables_are_listed_with_their_schemas_and_rows() {
    let page = demo().await.page("/").await;
    for text in ["Company", "HelpDesk", "SensorReadings", "Employee", "no stored schema", "160"] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
}

#[tokio::test]
async fn a_page_of_a_store_with_many_tables_names_the_first_ones_and_its_own() {
    let engine = Engine::in_memory();
    for nth in 0..250 {
        engine.untyped(format!("T{nth:03}").as_str()).unwrap().create_if_missing().await.unwrap();
    }
    let browser = Browser::reading(&engine).await;
    let page = browser.page("/t/T240").await;
    assert_eq!(page.matches("<option value=\"T").count(), 200, "the suggestions");
    assert!(page.contains("href=\"/t/T199\"") && !page.contains("href=\"/t/T200\""), "{page}");
    assert!(page.contains("href=\"/t/T240\""), "the navigation has the table of the page: {page}");
    assert!(browser.page("/").await.contains("href=\"/t/T249\""), "the list has all tables");
}

#[tokio::test]
async fn a_table_shows_its_schema_and_its_partitions() {
    let page = demo().await.page("/t/HelpDesk").await;
    for text in ["ByStatus", "ByEmail", "same transaction", "Change feed", "contoso", "fabrikam", "northwind"]
    {
        assert!(page.contains(text), "{text} is missing");
    }
}

#[tokio::test]
async fn a_table_without_a_schema_shows_the_format_of_its_keys() {
    let page = demo().await.page("/t/SensorReadings").await;
    assert!(page.contains("#[partition_key(&quot;sensor-&quot;, digits(3, number))]"), "{page}");
}

#[tokio::test]
async fn a_mixed_partition_distinguishes_its_kinds() {
    let browser = demo().await;
    let page = browser.page("/t/HelpDesk/p?pk=contoso").await;
    for text in ["index <bdi>ByEmail</bdi> of <bdi>Agent</bdi>", "<bdi>Agent</bdi>", "staff_"] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    let page = browser.page("/t/HelpDesk/p?pk=contoso&under=ticket_").await;
    assert!(page.contains("<bdi>Comment</bdi>") && page.contains("Printer answers in Latin"), "{page}");
    let comment = page
        .split("<tr")
        .find(|row| row.contains("ticket_000003_0001") || row.contains("rk=ticket_000003_0001"))
        .unwrap();
    assert!(
        comment.contains("└") && !comment.contains("<bdi>3</bdi>"),
        "a comment is beneath its ticket: {comment}"
    );
    assert!(page.contains("in 3 pieces") || page.contains("pieces"), "a long text is one column");
}

#[tokio::test]
async fn an_entity_and_its_index_row_are_linked_both_ways() {
    let browser = demo().await;
    let page = browser.page("/t/HelpDesk/e?pk=contoso&rk=ticket_000007").await;
    let link =
        page.split("href=\"").find(|link| link.contains("rk=status_")).expect("a link to the index row");
    let copy = browser.page(&link.split('"').next().unwrap().replace("&amp;", "&")).await;
    assert!(copy.contains("Belongs to"));
    assert!(copy.contains("/t/HelpDesk/e?pk=contoso&amp;rk=ticket_000007"), "{copy}");
}

#[tokio::test]
async fn a_query_by_parts_shows_its_plan_and_its_rows() {
    let page = demo().await.page("/t/Company/q?part.department=Sales&part.id=301..305&run=1").await;
    assert!(page.contains("Range of one partition"), "{page}");
    assert!(
        page.contains("PartitionKey eq 'Sales' and RowKey ge 'empid_000301' and RowKey lt 'empid_000306'"),
        "{page}"
    );
    assert!(page.contains("5 rows found, 5 read"), "{page}");
    for text in [
        "tables query Company department=Sales id=301..305",
        "Query::parse(",
        "TableClient.from_connection_string",
        "curl -H",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[tokio::test]
async fn a_condition_that_the_key_does_not_support_is_explained() {
    let page = demo().await.page("/t/Company/q?part.id=x&run=1").await;
    assert!(page.contains("not a query"), "{page}");
    let page = demo().await.page("/t/Company/q?property=Age&is=eq&value=old&run=1").await;
    assert!(page.contains("expected a whole number"), "{page}");
}

#[tokio::test]
async fn an_export_has_one_entity_per_line() {
    let body = demo().await.page("/t/Company/export?part.department=Sales").await;
    assert_eq!(body.lines().count(), 40);
    assert!(body.lines().all(|line| line.starts_with('{') && line.contains("\"PartitionKey\":\"Sales\"")));
}

#[tokio::test]
async fn work_shows_pending_and_poison_and_requeues_it() {
    let browser = demo().await;
    let page = browser.page("/work?queue=helpdesk").await;
    assert!(page.contains("mailbox full"), "{page}");
    let (csrf, work) = (crate::browser::hidden(&page, "csrf"), crate::browser::hidden(&page, "work"));
    let fields = [("csrf", csrf.as_str()), ("queue", "helpdesk"), ("work", work.as_str())];
    let done = browser.post("/work/requeue", &fields).await;
    assert_eq!(done.status, 303);
    let again = browser.post("/work/requeue", &fields).await;
    assert!(again.status == 409 && again.body.contains("no such entry"), "{}", again.body);
    let page = browser.page(done.location()).await;
    assert!(page.contains("The queue has no poison"), "{page}");
}

#[tokio::test]
async fn partitions_are_counted_exactly_and_sorted_by_size() {
    let page = demo().await.page("/t/Company/size").await;
    assert!(page.contains("160 rows") && page.contains("in 4 partitions"), "{page}");
    assert_eq!(page.matches("class=\"key\"").count(), 4);
}

#[tokio::test]
async fn a_feed_is_listed_newest_first() {
    let page = demo().await.page("/t/HelpDesk/feed?pk=contoso").await;
    assert!(page.contains("/t/HelpDesk/e?pk=contoso&amp;rk=ticket_000060"), "{page}");
}

#[tokio::test]
async fn the_engine_shows_figures_and_verifies() {
    let browser = demo().await;
    let page = browser.page("/engine").await;
    assert!(page.contains("rows in the memtable"));
    let csrf = crate::browser::hidden(&page, "csrf");
    let report = browser.post("/engine/verify", &[("csrf", &csrf)]).await;
    assert!(report.body.contains("no damage was found"), "{}", report.body);
}
