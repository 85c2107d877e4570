//! Tests with large tables. All pages are read to the end, while the number of requests and the memory use of the server stay bounded.
//!
//! `EXPLORER_ROWS` sets the number of rows. The tests measure the memory of their process, so they form a separate program and run one after another.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "pages/browser.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod browser;
#[path = "pages/counting_store.rs"]
mod counting_store;

use std::time::Instant;

use table_core::{
    DynTableStore, Engine, Operation, OperationKind, PartitionKey, RowKey, TableEntity, TableName,
    TableStore, TableStoreExt, Transaction,
};
use table_explorer::{Explorer, Source};

use browser::Browser;
use counting_store::Counting;

/// A lock that each test holds while it runs. The tests therefore run one at a time.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

fn rows() -> usize {
    std::env::var("EXPLORER_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(40_000)
}

/// Inserts rows in transactions, each for one partition, with 64 transactions in flight at a time.
async fn load(engine: &Engine, table: &TableName, rows: impl Iterator<Item = (String, String)>) {
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        let mut groups: Vec<Transaction> = Vec::new();
        while groups.len() < 64 {
            let Some((partition, row)) = rows.next() else { break };
            let partition_key = PartitionKey::new(partition.as_str()).unwrap();
            let entity =
                TableEntity::new(partition, row.as_str()).unwrap().with("N", 7).with("Text", "some text");
            let kind = OperationKind::Insert(entity.to_row().unwrap());
            let operation = Operation { row_key: RowKey::new(row).unwrap(), kind };
            let is_open = |group: &&mut Transaction| {
                group.partition_key() == &partition_key && group.operations().len() < 100
            };
            if let Some(group) = groups.last_mut().filter(is_open) {
                group.push(operation).unwrap();
            } else {
                let mut group = Transaction::new(partition_key, engine.capabilities().limits).unwrap();
                group.push(operation).unwrap();
                groups.push(group);
            }
        }
        let writes: Vec<_> = groups
            .into_iter()
            .map(|group| {
                let (engine, table) = (engine.clone(), table.clone());
                tokio::spawn(async move { engine.submit(&table, group).await })
            })
            .collect();
        for write in writes {
            write.await.unwrap().unwrap();
        }
    }
}

async fn with(rows: impl Iterator<Item = (String, String)>) -> (Counting, Browser) {
    let engine = Engine::in_memory();
    engine.untyped("Big").unwrap().create_if_missing().await.unwrap();
    let begun = Instant::now();
    load(&engine, &TableName::new("Big").unwrap(), rows).await;
    println!("loaded in {:?}", begun.elapsed());
    let store = Counting::new(&engine);
    let browser = Browser::open(Explorer::new(Source::new(DynTableStore::new(store.clone()), "large"))).await;
    browser.page("/").await;
    store.take();
    (store, browser)
}

/// Returns the URL of the next page, or `None` if the page does not link to one.
fn next(page: &str) -> Option<String> {
    let tag = page.split("<a ").find(|tag| tag.starts_with("class=\"btn next\" data-next"))?;
    Some(tag.split("href=\"").nth(1)?.split('"').next()?.replace("&amp;", "&"))
}

/// Returns the resident memory of this process in bytes, or `None` if the system does not report it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Reads all pages, starting at a URL. Returns the number of pages and the number of rows.
async fn scroll(browser: &Browser, first: &str) -> (usize, usize) {
    let (mut pages, mut rows, mut at) = (0, 0, Some(first.to_owned()));
    while let Some(path) = at {
        let page = browser.page(&path).await;
        pages += 1;
        rows += page.matches("class=\"key\"").count();
        at = next(&page);
    }
    (pages, rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_partition_takes_one_request_per_page_and_bounded_memory() {
    let _alone = ALONE.lock().await;
    let rows = rows();
    let (store, browser) = with((0..rows).map(|row| ("all".to_owned(), format!("{row:09}")))).await;
    let path = "/t/Big/p?pk=all&rows=500";
    // This first read fills the allocator's pools.
    browser.page(path).await;
    store.take();
    let (before, begun) = (resident(), Instant::now());
    let (pages, shown) = scroll(&browser, path).await;
    println!("{rows} rows in {pages} pages: {:?}", begun.elapsed());
    let (requests, read) = store.take();
    assert_eq!((shown as u64, requests, read), (rows as u64, pages as u64, rows as u64));
    assert!(pages <= rows / 500 + 1, "{pages} pages");
    if let (Some(before), Some(after)) = (before, resident()) {
        let grown = after.saturating_sub(before);
        println!("memory grew by {grown} bytes over {before}");
        assert!(grown < 24 << 20, "memory grew by {grown} bytes");
    }
    let jump = browser.get(&format!("/t/Big/jump?in=pk%3Dall&at={:09}", rows - 3)).await;
    let last = browser.page(jump.location()).await;
    assert_eq!(
        (store.take(), last.matches("class=\"key\"").count()),
        ((1, 3), 3),
        "a jump reads the rest alone"
    );
    assert!(last.contains("end of the partition"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_of_many_partitions_is_read_to_its_end_with_few_requests() {
    let _alone = ALONE.lock().await;
    let partitions = rows().max(100_000);
    let (store, browser) = with((0..partitions).map(|nth| (format!("p{nth:08}"), "r".to_owned()))).await;
    let begun = Instant::now();
    let (pages, shown) = scroll(&browser, "/t/Big").await;
    let (requests, read) = store.take();
    println!(
        "{partitions} partitions in {pages} pages, {requests} requests, {read} rows: {:?}",
        begun.elapsed()
    );
    assert_eq!(shown, partitions);
    // The first page sends one more request, to read the sample from which the declaration is inferred.
    assert!(
        requests <= 3 * pages as u64 + 1 && pages <= partitions / 190,
        "{requests} requests for {pages} pages"
    );
    assert!(read <= (2 * partitions + 200) as u64, "{read} rows were read");
}
