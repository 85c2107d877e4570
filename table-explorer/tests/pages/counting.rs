//! Tests that each page sends exactly as many requests as it reports, as counted by the store.

use table_core::{DynTableStore, Engine, TableEntity, TableStoreExt};
use table_explorer::{Explorer, Source, demo};

use crate::browser::Browser;
use crate::counting_store::Counting;

async fn with(partitions: u32, rows: u32) -> (Counting, Browser) {
    let engine = Engine::in_memory();
    let table = engine.untyped("Big").unwrap().create_if_missing().await.unwrap();
    for partition in 0..partitions {
        for row in 0..rows {
            let entity = TableEntity::new(format!("p{partition:03}"), format!("{row:06}")).unwrap();
            table.insert(&entity.with("N", i64::from(row))).await.unwrap();
        }
    }
    let store = Counting::new(&engine);
    let explorer = Explorer::new(Source::new(DynTableStore::new(store.clone()), "counted"));
    let browser = Browser::open(explorer).await;
    browser.page("/").await;
    store.take();
    (store, browser)
}

#[tokio::test]
async fn a_page_of_a_partition_is_one_request_and_the_page_says_so() {
    let (store, browser) = with(1, 300).await;
    let page = browser.page("/t/Big/p?pk=p000").await;
    let (requests, rows) = store.take();
    assert_eq!(requests, 1);
    assert!(rows <= 51, "{rows} rows were read for a page of 50");
    assert!(
        page.contains(&format!("This page sent 1 request to the store, which read {rows} row")),
        "{page}"
    );
}

#[tokio::test]
async fn every_page_of_a_partition_is_one_request_until_its_end() {
    let (store, browser) = with(1, 120).await;
    let (mut path, mut pages) = (Some("/t/Big/p?pk=p000".to_owned()), 0);
    while let Some(next) = path {
        let page = browser.page(&next).await;
        assert_eq!(store.take().0, 1);
        pages += 1;
        let link = page
            .split("class=\"btn next\" data-next href=\"")
            .nth(1)
            .map(|rest| rest.split('"').next().unwrap());
        path = link.map(|link| link.replace("&amp;", "&"));
    }
    assert_eq!(pages, 3);
}

#[tokio::test]
async fn an_entity_and_a_value_are_one_request_each() {
    let (store, browser) = with(1, 1).await;
    for path in ["/t/Big/e?pk=p000&rk=000000", "/t/Big/v?pk=p000&rk=000000&name=N&as=text"] {
        browser.page(path).await;
        assert_eq!(store.take(), (1, 1), "{path}");
    }
}

#[tokio::test]
async fn the_tree_skips_the_rest_of_a_large_partition() {
    let (store, browser) = with(4, 250).await;
    let page = browser.page("/t/Big").await;
    let (requests, rows) = store.take();
    // The page reads four partitions, the end of the table, and the sample from which the declaration is inferred.
    assert!(requests <= 6, "{requests}");
    assert!(rows <= 4 * 101 + 201, "{rows} of 1,000 rows were read");
    for partition in 0..4 {
        assert!(page.contains(&format!("p{partition:03}")));
    }
    assert!(page.contains("100+"));
}

#[tokio::test]
async fn a_filtered_scan_sends_nothing_before_it_is_confirmed() {
    let (store, browser) = with(2, 10).await;
    let path = "/t/Big/q?property=N&is=gt&value=7&run=1";
    let page = browser.page(path).await;
    assert_eq!(store.take(), (0, 0));
    assert!(page.contains("This query reads the whole table"), "{page}");
    let page = browser.page(&format!("{path}&scan=1")).await;
    assert_eq!(store.take().0, 1);
    assert!(page.contains("4 rows found, 20 read"), "{page}");
}

#[tokio::test]
async fn a_plan_is_shown_without_a_request() {
    let (store, browser) = with(1, 10).await;
    let plan = browser.page("/t/Big/plan?partition=p000&row=000003").await;
    assert_eq!(store.take(), (0, 0));
    assert!(plan.contains("Point query") && plan.contains("at most <b>1 request</b>"), "{plan}");
}

/// Returns the number of requests that a page reports, or zero if it reports no number.
fn reported(page: &str) -> u64 {
    let count = page.split("data-requests=\"").nth(1).and_then(|rest| rest.split('"').next());
    count.map_or(0, |count| count.parse().unwrap())
}

#[tokio::test]
async fn every_page_reports_exactly_the_requests_that_it_sent() {
    let engine = Engine::in_memory();
    demo::fill(&engine).await.unwrap();
    let store = Counting::new(&engine);
    let source = Source::new(DynTableStore::new(store.clone()), "counted").with_engine(engine);
    let browser = Browser::open(Explorer::writable(source)).await;
    browser.page("/").await;
    store.take();
    let pages = [
        "/",
        "/t/HelpDesk",
        "/t/SensorReadings",
        "/t/HelpDesk?at=d",
        "/t/HelpDesk/p?pk=contoso",
        "/t/HelpDesk/layout?pk=contoso",
        "/t/HelpDesk/e?pk=contoso&rk=ticket_000007",
        "/t/HelpDesk/v?pk=contoso&rk=ticket_000004&name=Text&as=text",
        "/t/Company/q?part.department=Sales&run=1",
        "/t/Company/edit?pk=Sales&rk=empid_000302",
        "/t/HelpDesk/feed?pk=contoso",
        "/t/HelpDesk/feed?pk=contoso&until=30",
        "/work",
        "/queries",
        "/load",
        "/growth",
        "/growth?table=Company",
        "/engine",
    ];
    let mut wrong = Vec::new();
    for path in pages {
        let reported = reported(&browser.page(path).await);
        // Listing the queues is counted as a request, although it does not go through the table store.
        let sent = store.take().0 + u64::from(path == "/work");
        wrong.extend((reported != sent).then(|| format!("{path} reports {reported} of {sent}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Requests to queues do not go through the table store. One request lists the names, and one request for each of the two queues counts its messages.
    assert_eq!(reported(&browser.page("/queues").await), 3);
    assert_eq!(reported(&browser.page("/queues?name=helpdesk").await), 5);
    assert_eq!(store.take().0, 0);
}

#[tokio::test]
async fn a_jump_into_the_tree_reads_the_rest_of_it_alone() {
    let (store, browser) = with(40, 3).await;
    let page = browser.page("/t/Big?at=p037").await;
    let (_, rows) = store.take();
    assert_eq!(page.matches("class=\"key\"").count(), 3, "{page}");
    assert!(page.contains("p037") && !page.contains("p036") && page.contains("end of the table"), "{page}");
    assert_eq!(rows, 9, "the sample by which keys are explained is read with the first page alone");
}

#[tokio::test]
async fn an_export_that_fails_on_a_later_page_has_no_end() {
    let (store, browser) = with(3, 500).await;
    for form in ["jsonl", "csv"] {
        let path = format!("/t/Big/export?as={form}&select=N");
        let whole = browser.download(&path).await.unwrap();
        assert!(String::from_utf8_lossy(&whole).lines().count() >= 1_500);
    }
    store.fail();
    for form in ["jsonl", "csv"] {
        let failed = browser.download(&format!("/t/Big/export?as={form}&select=N")).await.unwrap_err();
        assert!(failed.to_string().contains("the answer is lost"), "{failed}");
    }
}

/// Returns the contents of the page at the given URL and of all pages after it.
async fn pages(browser: &Browser, first: &str) -> Vec<String> {
    let (mut at, mut found) = (Some(first.to_owned()), Vec::new());
    while let Some(address) = at {
        let page = browser.page(&address).await;
        at = page
            .split("data-next href=\"")
            .nth(1)
            .map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"));
        found.push(page);
        assert!(found.len() < 100, "{first} has no end");
    }
    found
}

#[tokio::test]
async fn empty_pages_of_the_store_hide_no_rows() {
    let engine = Engine::in_memory();
    demo::fill(&engine).await.unwrap();
    let store = Counting::new(&engine);
    let source = Source::new(DynTableStore::new(store.clone()), "counted").with_engine(engine);
    let browser = Browser::open(Explorer::new(source)).await;
    browser.page("/").await;
    let keys = |pages: &[String]| {
        let keys = pages.iter().flat_map(|page| page.split("<a class=\"key\" href=\"").skip(1));
        keys.map(|rest| rest.split('"').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for first in [
        "/t/HelpDesk",
        "/t/SensorReadings",
        "/t/HelpDesk?at=d",
        "/t/HelpDesk/p?pk=contoso",
        "/t/HelpDesk/p?pk=contoso&under=ticket_&at=ticket_000040",
        "/t/Company/q?run=1&partition=Sales&top=7",
        "/t/Company/q?run=1&scan=1&property=Age&is=ge&value=60&top=7",
        "/t/HelpDesk/layout?pk=contoso",
        "/work",
    ] {
        let expected = keys(&pages(&browser, first).await);
        assert!(!expected.is_empty(), "{first}");
        for empty in [1, 3, 23, 24, 60] {
            store.answer_empty(empty);
            let found = pages(&browser, first).await;
            store.answer_empty(0);
            for page in &found {
                // The script adds the rows of further pages to the grid of the first page.
                let is_followed = page.contains("data-next href") || found.len() > 1;
                assert!(
                    !is_followed || page.contains("class=\"wrap rows") && page.contains("<tbody>"),
                    "{first}: {page}"
                );
                assert!(
                    !page.contains("has no rows") && !page.contains("has recorded work"),
                    "{first}: {page}"
                );
            }
            let is_bounded = first.contains("layout") || first == "/work";
            assert!(
                keys(&found) == expected || is_bounded && empty >= 24,
                "{first} after {empty} empty pages"
            );
            let is_open = found.iter().any(|page| page.contains("more follow"));
            assert!(!is_bounded || empty < 24 || is_open, "{first}: {}", found[0]);
        }
    }
    for empty in [1, 3, 20] {
        store.answer_empty(empty);
        assert!(browser.page("/t/HelpDesk").await.contains("ByStatus ready"));
        store.answer_empty(0);
    }
}

#[tokio::test]
async fn the_tree_of_a_store_without_order_has_all_partitions() {
    let engine = Engine::in_memory();
    let table = engine.untyped("Big").unwrap().create_if_missing().await.unwrap();
    for partition in 0..5 {
        for row in 0..60 {
            table
                .insert(&TableEntity::new(format!("p{partition}"), format!("{row:02}")).unwrap())
                .await
                .unwrap();
        }
    }
    let store = Counting::new(&engine).unordered();
    let browser = Browser::open(Explorer::new(Source::new(DynTableStore::new(store), "unordered"))).await;
    let pages = pages(&browser, "/t/Big").await;
    for partition in 0..5 {
        let link = format!("<a class=\"key\" href=\"/t/Big/p?pk=p{partition}\"");
        assert!(pages.iter().any(|page| page.contains(&link)), "p{partition}: {pages:?}");
    }
    assert!(pages[0].contains("The store returns rows in no order"));
    assert!(browser.page("/t/Big/p?pk=p0").await.contains("in no order"));
}

#[tokio::test]
async fn a_page_tells_the_number_of_rows_that_the_store_omitted() {
    let (store, browser) = with(1, 3).await;
    let note = |rows: &str| {
        format!(
            "<span class=\"badge warn\">incomplete</span> <b>{rows}</b> omitted, because the store cannot represent them"
        )
    };
    let paths = [
        "/t/Big/p?pk=p000",
        "/t/Big/q?run=1&partition=p000",
        "/t/Big/q?property=N&is=ge&value=0&run=1&scan=1",
    ];
    for path in paths {
        let page = browser.page(path).await;
        assert!(page.contains("data-rows=\"0\" hidden>"), "{path}: {page}");
    }
    store.omit(1);
    for path in paths {
        let page = browser.page(path).await;
        assert!(page.contains(&note("1 row")) && page.contains("data-rows=\"1\">"), "{path}: {page}");
    }
    store.omit(2);
    for path in paths {
        assert!(browser.page(path).await.contains(&note("2 rows")), "{path}");
    }
    let before = browser.explorer.omitted();
    assert_eq!(before, 3 + 2 * 3);
    // An export has no page that could show a note.
    let exported = browser.page("/t/Big/export?as=jsonl").await;
    assert_eq!((exported.lines().count(), browser.explorer.omitted() - before), (3, 2), "{exported}");
}
