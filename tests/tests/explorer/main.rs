//! The explorer in a real browser: Chromium of the system, driven by a pinned client for Node that the first run installs.
//!
//! Without Chromium, Node or a registry the test is skipped and says so; where `CI` is `true` that fails. Pictures of the pages are left in
//! cargo's target folder.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs, io};

use table_core::queue::PutMessage;
use table_core::{
    DynTableStore, Engine, Operation, OperationKind, PartitionKey, QueueName, QueueStore, RowKey,
    TableEntity, TableName, TableStore, TableStoreExt, Transaction,
};
use table_explorer::{Explorer, Server, Source, demo};
use table_patterns::feed::{Feed, FeedChange};
use tests::npm;

const PACKAGES: [(&str, &str); 3] = [
    ("package.json", include_str!("../../clients/explorer/package.json")),
    ("package-lock.json", include_str!("../../clients/explorer/package-lock.json")),
    (".npmrc", include_str!("../../clients/explorer/.npmrc")),
];
/// The path of the suite, which is read when the test runs: changing it does not require a rebuild.
const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/clients/explorer/suite.mjs");

/// Returns the number of rows of a large partition, and of partitions of a large table. `EXPLORER_ROWS` sets both.
fn large() -> (usize, usize) {
    let given = env::var("EXPLORER_ROWS").ok().and_then(|rows| rows.parse().ok());
    given.map_or((10_000, 15_000), |rows| (rows, rows))
}

/// Strings that would set `window.stolen` on a page that does not escape them, or hide or turn its text.
const HOSTILE: [&str; 13] = [
    "<script>window.stolen=1</script>",
    "\"><img src=x onerror=\"window.stolen=2\">",
    "' onmouseover='window.stolen=3' autofocus onfocus='window.stolen=3",
    "</textarea></title><svg onload=\"window.stolen=4\">",
    "<iframe srcdoc=\"<script>parent.stolen=5</script>\">",
    "javascript:window.stolen=6",
    "{{constructor.constructor('window.stolen=7')()}}",
    "<!--<img src=\"--><img src=x onerror=window.stolen=8//\">",
    "<details open ontoggle=window.stolen=9>",
    "<a href=javascript:window.stolen=10 id=live name=keys>",
    "&lt;script&gt;window.stolen=11&lt;&sol;script&gt;",
    "\u{202E}gnp.exe",
    "a\u{200B}b\u{FEFF}c",
];

/// Returns the path of the browser, from `CHROMIUM` or where systems have it.
fn chromium() -> Option<PathBuf> {
    let named = env::var_os("CHROMIUM").map(PathBuf::from);
    let known = ["chromium", "chromium-browser", "google-chrome"];
    let on_path = || {
        let folders: Vec<_> = env::split_paths(&env::var_os("PATH")?).collect();
        known
            .iter()
            .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
            .find(|path| path.is_file())
    };
    named.or_else(on_path)
}

/// Ends the test with a message; a failure in the gate.
fn skip(why: &str) {
    assert!(!env::var("CI").is_ok_and(|ci| ci == "true"), "the explorer was not tried in a browser: {why}");
    drop(writeln!(io::stderr(), "SKIPPED: the explorer was not tried in a browser: {why}"));
}

async fn store() -> Engine {
    let engine = Engine::in_memory();
    demo::fill(&engine).await.unwrap();
    let table = engine.untyped("Hostile").unwrap().create_if_missing().await.unwrap();
    for text in HOSTILE {
        let key: String = text.chars().filter(|character| !"/\\#?".contains(*character)).collect();
        let entity = TableEntity::new(key.as_str(), key.as_str()).unwrap();
        table.insert(&entity.with("Text", text).with("Json", format!("[{text:?}]"))).await.unwrap();
        let queue = QueueName::new("hostile").unwrap();
        engine.create_queue(&queue).await.unwrap();
        engine.put(&queue, PutMessage::new(text)).await.unwrap();
        let source = RowKey::new(key.as_str()).unwrap();
        let change = FeedChange { source: &source, kind: text, payload: text.as_bytes() };
        let transaction = group(&engine, "feed");
        Feed::new(engine.clone())
            .submit(&TableName::new("Hostile").unwrap(), transaction, &[change])
            .await
            .unwrap();
    }
    let (rows, partitions) = large();
    load(&engine, "Rows", (0..rows).map(|row| ("all".to_owned(), format!("{row:09}"))).collect()).await;
    load(&engine, "Partitions", (0..partitions).map(|nth| (format!("p{nth:08}"), "r".to_owned())).collect())
        .await;
    engine
}

fn group(engine: &Engine, partition: &str) -> Transaction {
    Transaction::new(PartitionKey::new(partition).unwrap(), engine.capabilities().limits).unwrap()
}

/// Inserts small rows, many groups at a time.
async fn load(engine: &Engine, name: &str, keys: Vec<(String, String)>) {
    engine.untyped(name).unwrap().create_if_missing().await.unwrap();
    let table = TableName::new(name).unwrap();
    let mut groups = Vec::new();
    for partition in keys.chunk_by(|(one, _), (other, _)| one == other) {
        for rows in partition.chunks(100) {
            let mut transaction = group(engine, &rows[0].0);
            for (partition_key, row_key) in rows {
                let row = TableEntity::new(partition_key.as_str(), row_key.as_str()).unwrap().with("N", 7);
                let kind = OperationKind::Insert(row.to_row().unwrap());
                let row_key = RowKey::new(row_key.as_str()).unwrap();
                transaction.push(Operation { row_key, kind }).unwrap();
            }
            let (engine, table) = (engine.clone(), table.clone());
            groups.push(tokio::spawn(async move { engine.submit(&table, transaction).await }));
            if groups.len() == 256 {
                for written in groups.drain(..) {
                    written.await.unwrap().unwrap();
                }
            }
        }
    }
    for written in groups {
        written.await.unwrap().unwrap();
    }
}

/// Writes a change to the feed of a partition again and again, as a program would.
async fn write_feed(engine: Engine) {
    let (feed, table) = (Feed::new(engine.clone()), TableName::new("HelpDesk").unwrap());
    let source = RowKey::new("ticket_000007").unwrap();
    loop {
        let transaction = group(&engine, "contoso");
        let change = FeedChange { source: &source, kind: "Ticket", payload: b"{}" };
        feed.submit(&table, transaction, &[change]).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_work_in_a_real_browser() {
    let Some(chromium) = chromium() else { return skip("Chromium is not installed") };
    let folder = match npm::install("explorer-browser", &PACKAGES) {
        Ok(folder) => folder,
        Err(why) => return skip(&why.to_string()),
    };
    fs::copy(SUITE, folder.join("suite.mjs")).unwrap();
    let pictures = folder.join("pictures");
    fs::create_dir_all(&pictures).unwrap();
    let engine = store().await;
    let source = Source::new(DynTableStore::new(engine.clone()), "demo").with_engine(engine.clone());
    let server = Server::bind(([127, 0, 0, 1], 0).into(), Explorer::writable(source)).await.unwrap();
    let sample = Server::bind(([127, 0, 0, 1], 0).into(), Explorer::writable(demo::source().await.unwrap()));
    let sample = sample.await.unwrap();
    let mut node = Command::new("node");
    node.current_dir(folder).arg("suite.mjs").arg(server.url()).arg(chromium).arg(pictures);
    let (rows, partitions) = large();
    node.arg(rows.to_string()).arg(partitions.to_string()).arg(sample.url());
    let writer = tokio::spawn(write_feed(engine));
    let (ended, end) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve_until(async { drop(end.await) }));
    let sampling = tokio::spawn(sample.serve_until(std::future::pending()));
    let output = tokio::task::spawn_blocking(move || node.output()).await.unwrap();
    writer.abort();
    sampling.abort();
    drop(ended);
    serving.await.unwrap();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Figures of the run, which `--nocapture` shows.
    println!("{text}");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
