//! Keys from arbitrary strings. Invalid characters are escaped. Escaping keeps the sort order, and decoding returns the original string (KEY-3).

use std::error::Error;

use table_core::{Engine, Entity, TableStoreExt};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Pages")]
#[partition_key(escaped(host))]
#[row_key(escaped(path))]
struct Page {
    host: String,
    path: String,
    hits: i64,
}

/// The same page, declared without `escaped`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "RawPages")]
#[partition_key(host)]
#[row_key(path)]
struct RawPage {
    host: String,
    path: String,
    hits: i64,
}

fn main() -> Result<(), Box<dyn Error>> {
    pollster::block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let store = Engine::in_memory();
    let pages = store.table::<Page>().create_if_missing().await?;
    let page = |path: &str| Page { host: "example.com".to_owned(), path: path.to_owned(), hits: 1 };
    let paths = ["", "/", "/a", "/a/b?c=d#e", "/b", "\\?\u{7f}", "é"];
    pages.bulk().insert_all(paths.map(page)).await?;
    println!("{}", page("/a/b?c=d#e").key_of()?);

    let found = pages.query(Page::partition("example.com")).collect().await?;
    assert_eq!(found, paths.map(page), "each as it was, in the order of the texts");
    let below_a = pages.query(Page::rows("example.com").path_prefix("/a")).collect().await?;
    assert_eq!(below_a, [page("/a"), page("/a/b?c=d#e")]);

    // Without `escaped`, the string itself is the key. The key is readable, but a string with an illegal character is rejected.
    let raw = RawPage { host: "example.com".to_owned(), path: "/a".to_owned(), hits: 1 };
    let Err(refused) = store.table::<RawPage>().create_if_missing().await?.insert(&raw).await else {
        panic!("a slash is no key")
    };
    println!("{refused}");
    Ok(())
}
