//! Tests that commands work with a `table-server`, using the service's protocol.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use clap::Parser;
use table_core::{DynTableStore, Engine, TableEntity, TableStoreExt};
use table_server::{Account, Config, Server};
use tables_cli::{Exit, Tables};

async fn run(words: &[&str]) -> (Exit, String) {
    let mut out = Vec::new();
    let tables = Tables::try_parse_from(std::iter::once(&"tables").chain(words)).unwrap();
    let exit = tables_cli::run(tables, &mut out).await.unwrap();
    (exit, String::from_utf8(out).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_copied_to_a_folder_and_back_with_equal_checksums() {
    let (one, two) = (Engine::in_memory(), Engine::in_memory());
    let store = DynTableStore::new(one.clone()).untyped("Things").unwrap().create_if_missing().await.unwrap();
    let rows: Vec<TableEntity> = (0..3_000)
        .map(|row| {
            TableEntity::new(format!("p{}", row % 5), format!("{row:05}"))
                .unwrap()
                .with("Number", row)
                .with("Text", "é 'x'")
        })
        .collect();
    store.bulk().insert_all(&rows).await.unwrap();

    let (end, ended) = tokio::sync::watch::channel(());
    let mut strings = Vec::new();
    for engine in [one, two] {
        let account = Account::emulator(engine).unwrap();
        let name = account.name().to_owned();
        let server = Server::bind(Config::on_loopback(account).ephemeral()).await.unwrap();
        strings.push(server.connection_string(&name).unwrap());
        let mut ended = ended.clone();
        tokio::spawn(server.serve_until(async move {
            // Dropping the sender at the end of the test ends this wait.
            let _ = ended.changed().await;
        }));
    }
    let (from, to) = (strings[0].as_str(), strings[1].as_str());
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("db").display().to_string();
    let (exit, text) = run(&["copy", "Things", "--store", from, "--to", &db]).await;
    assert!(exit == Exit::Done && text.contains("3000 rows, verified"), "{text}");
    let (_, text) = run(&["copy", "Things", "--store", &db, "--to", to]).await;
    assert!(text.contains("3000 rows, verified"), "{text}");
    let checksum = async |store: &str| run(&["count", "Things", "--checksum", "--store", store]).await.1;
    assert_eq!(checksum(from).await, checksum(to).await);
    assert_eq!(run(&["sync", "Things", "--store", from, "--to", to]).await.0, Exit::Nothing);
    let (_, text) =
        run(&["delete", "Things", "--partition", "p1", "--filter", "Number lt 100", "--yes", "--store", to])
            .await;
    assert_eq!(text, "deleted 20 rows\n");
    let (_, text) =
        run(&["query", "Things", "--partition", "p1", "--top", "1", "--store", to, "-o", "json"]).await;
    assert!(text.contains("\"RowKey\":\"00101\""), "{text}");
    drop(end);
}
