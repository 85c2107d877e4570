//! Tests that the rate of a backup limits every pass over all tables.

use std::time::Duration;

use table_core::{DynTableStore, Engine, TableEntity, TableStoreExt};
use tokio::time::Instant;

use super::Repository;
use super::capture::{CaptureOptions, capture};

/// The number of rows in a table. They fill three pages.
const ROWS: u64 = 25;
/// The number of rows in one page.
const PAGE: u64 = 10;

#[tokio::test(start_paused = true)]
async fn every_pass_of_a_backup_is_read_at_the_rate() {
    let engine = Engine::in_memory();
    let names = ["Company", "Orders"];
    for name in names {
        let table = engine.untyped(name).unwrap().create_if_missing().await.unwrap();
        for row in 0..ROWS {
            table.insert(&TableEntity::new("p", format!("{row:04}")).unwrap()).await.unwrap();
        }
    }
    let store = DynTableStore::new(engine);
    for (settle, passes) in [(false, 1), (true, 2)] {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::create(folder.path(), "a store").unwrap();
        let page = usize::try_from(PAGE).unwrap();
        let options = CaptureOptions { settle, rate: Some(1), page, ..CaptureOptions::default() };
        let begun = Instant::now();
        capture(&repository, &store, &options).await.unwrap();
        // The last page is read without a pause after it. A page contains at most one second's worth of rows, even if the page size is larger.
        let read = passes * ROWS * names.len() as u64;
        let elapsed = begun.elapsed();
        assert!(elapsed >= Duration::from_secs(read - 1), "{settle}: {elapsed:?}");
        assert!(elapsed <= Duration::from_secs(read), "{settle}: {elapsed:?}");
    }
}
