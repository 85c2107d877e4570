//! Tests that `--rate` limits every pass over the rows of a table.

use std::time::Duration;

use clap::Parser;
use table_core::{Engine, TableEntity, TableStoreExt};
use tables_cli::Tables;
use tokio::time::Instant;

/// The number of rows in the table. They fill three pages.
const ROWS: u64 = 2_500;
/// The number of rows in one page.
const PAGE: u64 = 1_000;
const RATE: u64 = 10;

#[tokio::test(start_paused = true)]
async fn every_pass_over_the_rows_is_read_at_the_rate() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let engine = Engine::open(folder.path().join("db")).unwrap();
    let table = engine.untyped("Orders").unwrap().create_if_missing().await.unwrap();
    let rows = (0..ROWS).map(|n| TableEntity::new("p", format!("{n:05}")).unwrap().with("N", 1));
    table.bulk().insert_all(rows.collect::<Vec<_>>()).await.unwrap();
    engine.close().await.unwrap();
    let mut commands = vec![
        (format!("export Orders {}", path("a.jsonl")), 1),
        (format!("export Orders {}", path("a.csv")), 2),
        (format!("export Orders {} --columns N", path("b.csv")), 1),
        (format!("backup {} --format rows", path("a")), 1),
    ];
    if cfg!(feature = "parquet") {
        commands.push((format!("export Orders {}", path("a.parquet")), 2));
    }
    for (command, passes) in commands {
        let words = format!("tables {command} --rate {RATE} --store {}", path("db"));
        let parsed = Tables::try_parse_from(words.split(' ')).unwrap();
        let begun = Instant::now();
        tables_cli::run(parsed, &mut Vec::new()).await.unwrap();
        // The first page is read at once, and no pause follows the last page.
        let least = Duration::from_secs((passes * ROWS - PAGE) / RATE);
        assert!(begun.elapsed() >= least, "{command}: {:?}", begun.elapsed());
        assert!(
            begun.elapsed() <= Duration::from_secs(passes * ROWS / RATE),
            "{command}: {:?}",
            begun.elapsed()
        );
    }
}
