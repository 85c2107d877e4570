//! Tests the samples of table sizes, their charts, and the file that stores them.

use std::time::Duration;

use table_core::{DynTableStore, Engine, TableEntity, TableStoreExt};
use table_explorer::{Explorer, Server, Source};

use crate::browser::Browser;

async fn store(rows: u32) -> Engine {
    let engine = Engine::in_memory();
    let table = engine.untyped("Grown").unwrap().create_if_missing().await.unwrap();
    for row in 0..rows {
        table.insert(&TableEntity::new("p", format!("{row:06}")).unwrap().with("N", 7)).await.unwrap();
    }
    engine
}

fn source(engine: &Engine) -> Source {
    Source::new(DynTableStore::new(engine.clone()), "test").with_engine(engine.clone())
}

#[tokio::test]
async fn a_count_is_a_sample_that_a_later_explorer_draws() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tables-growth.json");
    let engine = store(30).await;
    let open = || Browser::open(Explorer::new(source(&engine).with_growth(&file)));
    let browser = open().await;
    let page = browser.page("/growth").await;
    assert!(page.contains("not counted") && page.contains("No sample yet"), "{page}");
    assert!(page.contains("tables-growth.json"), "the page names its file");
    assert!(!file.exists(), "a page that counts nothing writes nothing");
    let page = browser.page("/growth?count=1").await;
    assert!(page.contains("<td class=\"num\">30</td>"), "{page}");
    let page = open().await.page("/growth?table=Grown").await;
    assert!(page.contains("class=\"chart\"") && page.contains("rows over time: 30 at"), "{page}");
    assert_eq!(page.matches("<time").count(), 1, "one sample is listed: {page}");
}

#[tokio::test]
async fn counts_of_other_pages_are_samples_too() {
    let engine = store(12).await;
    for path in ["/", "/t/Grown/size"] {
        let browser = Browser::open(Explorer::new(source(&engine))).await;
        browser.page(path).await;
        let page = browser.page("/growth?table=Grown").await;
        assert!(page.contains("rows over time: 12 at"), "{path}: {page}");
    }
}

/// Tests that a store larger than 64 MB is counted only on request. Until then, the list of tables shows the last counts and the time at which they were taken.
#[tokio::test]
async fn the_list_of_a_large_store_shows_the_last_counts() {
    let engine = store(0).await;
    let table = engine.untyped("Grown").unwrap();
    for row in 0..80 {
        let entity = TableEntity::new("p", format!("{row:06}")).unwrap();
        let wide = (0..14).fold(entity, |entity, nth| entity.with(format!("B{nth}"), vec![7_u8; 64 << 10]));
        table.insert(&wide).await.unwrap();
    }
    let browser = Browser::open(Explorer::new(source(&engine))).await;
    let page = browser.page("/").await;
    assert!(page.contains("Count rows and bytes") && !page.contains(">80</td>"), "{page}");
    browser.page("/?count=1").await;
    let page = browser.page("/").await;
    assert!(page.contains("the last counts") && page.contains("<td class=\"num\">80</td>"), "{page}");
    assert!(page.contains("Count rows and bytes"), "{page}");
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_reported_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tables-growth.json");
    std::fs::write(&file, "not JSON").unwrap();
    let engine = store(1).await;
    let browser = Browser::open(Explorer::new(source(&engine).with_growth(&file))).await;
    let page = browser.page("/").await;
    assert!(page.contains("Grown"), "the list is shown without the sample");
    let answer = browser.get("/growth").await;
    assert!(answer.body.contains("tables-growth.json"), "{}", answer.body);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "not JSON");
}

#[tokio::test]
async fn an_account_has_no_growth() {
    let engine = store(1).await;
    let browser = Browser::open(Explorer::new(Source::new(DynTableStore::new(engine), "account"))).await;
    assert_eq!(browser.get("/growth").await.status, 404);
    assert!(!browser.page("/").await.contains("href=\"/growth\""));
}

#[tokio::test]
async fn a_server_samples_small_tables_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tables-growth.json");
    let engine = store(9).await;
    let explorer = Explorer::new(source(&engine).with_growth(&file));
    let server = Server::bind(([127, 0, 0, 1], 0).into(), explorer).await.unwrap();
    let sampled = async {
        while !file.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), server.serve_until(sampled)).await.unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"Grown\":[[") && text.contains(",9,"), "{text}");
}
