//! Tests of the page about partition load, of its events, and of the pages that are shown if no requests are counted.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http::header::{COOKIE, HOST, SET_COOKIE};
use http_body_util::BodyExt;
use table_core::{DynTableStore, Engine, EntityKey, TableEntity, TableStoreExt};
use table_explorer::{Explorer, Source};
use table_inspect::load::{CountingStore, PartitionLoad};

use crate::browser::{Browser, HERE};

/// Sends the given number of requests for each partition of an engine. Returns an explorer and the request counts that it shows.
async fn observed(reads: &[(&str, u32)]) -> (Explorer, PartitionLoad) {
    let engine = Engine::in_memory();
    let load = PartitionLoad::default();
    let program = CountingStore::new(engine.clone(), load.clone());
    let table = program.untyped("Busy").unwrap().create_if_missing().await.unwrap();
    for (partition, count) in reads {
        table.insert(&TableEntity::new(*partition, "r").unwrap()).await.unwrap();
        for _ in 1..*count {
            table.get(&EntityKey::new(*partition, "r").unwrap()).await.unwrap();
        }
    }
    let source = Source::new(DynTableStore::new(engine.clone()), "test").with_engine(engine);
    (Explorer::new(source.with_load(load.clone())), load)
}

#[tokio::test]
async fn the_busiest_partition_is_first_and_reads_of_the_pages_are_not_counted() {
    let (explorer, load) = observed(&[("calm", 2), ("<b>hot", 40), ("warm", 9)]).await;
    let browser = Browser::open(explorer).await;
    let page = browser.page("/load").await;
    assert!(page.contains("<b>51</b> requests in the last minute"), "{page}");
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing in {page}"));
    assert!(at("pk=%3Cb%3Ehot") < at("pk=warm") && at("pk=warm") < at("pk=calm"), "{page}");
    assert!(page.contains("&lt;b&gt;hot") && !page.contains("<b>hot"));
    assert!(page.contains("Busy") && page.contains("40 requests in the last hour, at most 40 in a minute"));
    let partition = browser.page("/t/Busy/p?pk=warm").await;
    assert!(partition.contains("This partition, last hour"), "{partition}");
    assert!(partition.contains("9 requests a minute at most"), "{partition}");
    assert_eq!(load.last_minute(), 51, "the pages of the explorer are not load");
}

#[tokio::test]
async fn without_a_source_the_page_says_what_it_has() {
    let engine = Engine::in_memory();
    engine.untyped("Idle").unwrap().create_if_missing().await.unwrap();
    let browser = Browser::reading(&engine).await;
    let page = browser.page("/load").await;
    assert!(page.contains("tables serve --explore") && page.contains("/t/Idle/size"), "{page}");
    assert!(!browser.page("/t/Idle/p?pk=a").await.contains("last hour"));
    assert_eq!(browser.get("/load/events").await.status, 404);
}

#[tokio::test]
async fn events_follow_the_requests() {
    let (explorer, load) = observed(&[("calm", 2)]).await;
    let request = |path: &str, cookie: &str| {
        Request::get(path).header(HOST, HERE).header(COOKIE, cookie).body(Bytes::new()).unwrap()
    };
    let first = explorer.handle(request(&explorer.first_path(), ""), HERE).await;
    let cookie = first.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    let response = explorer.handle(request("/load/events", &cookie), HERE).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    let mut next = async || {
        let frame = tokio::time::timeout(Duration::from_secs(20), body.frame()).await.unwrap();
        String::from_utf8(frame.unwrap().unwrap().into_data().unwrap().to_vec()).unwrap()
    };
    let page = next().await;
    assert!(page.starts_with("data: <div id=\"load\"") && page.ends_with("</div>\n\n"), "{page}");
    assert!(!page.contains("new one"), "{page}");
    load.record("busy", "new one");
    let changed = next().await;
    assert!(changed.contains("new one") && changed.lines().filter(|line| !line.is_empty()).count() == 1);
}
