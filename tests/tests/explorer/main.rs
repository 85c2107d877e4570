//! Tests the explorer in a real browser: the Chromium of the system, which a pinned Node package controls. The first run installs the package.
//!
//! Without Chromium, Node or a registry, the test is skipped with a message. If `CI` is `true`, it fails instead. Screenshots of the pages are written to
//! cargo's target folder.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs, io};

use table_core::query::Select;
use table_core::queue::PutMessage;
use table_core::store::Committed;
use table_core::{
    DynTableStore, Engine, EntityKey, Operation, OperationKind, PartitionKey, QueueName, QueueStore, RowKey,
    TableEntity, TableName, TableStore, TableStoreExt, Transaction,
};
use table_explorer::{Explorer, Server, Source, demo};
use table_inspect::load::{CountingStore, PartitionLoad};
use table_patterns::feed::{Feed, FeedChange};
use tests::npm;
use tokio::task::JoinHandle;

const PACKAGES: [(&str, &str); 3] = [
    ("package.json", include_str!("../../clients/explorer/package.json")),
    ("package-lock.json", include_str!("../../clients/explorer/package-lock.json")),
    (".npmrc", include_str!("../../clients/explorer/.npmrc")),
];
/// The path of the browser tests. The file is read when this test runs, so it can be changed without a rebuild.
const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/clients/explorer/suite.mjs");

/// Returns the number of rows in the large partition, and the number of partitions in the large table. The variable `EXPLORER_ROWS` sets both.
fn large() -> (usize, usize) {
    let given = env::var("EXPLORER_ROWS").ok().and_then(|rows| rows.parse().ok());
    given.map_or((1_000_000, 100_000), |rows| (rows, rows))
}

/// Returns the number of screenfuls of rows that the test scrolls down and back up. It comes from the variable `EXPLORER_WINDOWS`. `all` scrolls to the end.
fn windows() -> String {
    env::var("EXPLORER_WINDOWS").unwrap_or_else(|_| "25".to_owned())
}

/// Strings that would set `window.stolen` if a page did not escape them. Some of them could also hide or reverse the text of the page.
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

/// Returns the path of the browser, from `CHROMIUM` or one of the usual locations.
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

/// Ends the test with a message. The test fails if `CI` is `true`.
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
    for table in ["Rows", "Partitions"] {
        engine.untyped(table).unwrap().create_if_missing().await.unwrap();
    }
    engine
}

/// Fills the large table and then the large partition. In the meantime, the browser tests other pages.
async fn fill(engine: Engine) {
    let ((rows, partitions), begun) = (large(), std::time::Instant::now());
    let mut groups = Groups { engine, under_way: VecDeque::new() };
    for nth in 0..partitions {
        groups.write("Partitions", &format!("p{nth:08}"), ["r".to_owned()]).await;
    }
    for first in (0..rows).step_by(100) {
        let keys = (first..rows.min(first + 100)).map(|row| format!("{row:09}"));
        groups.write("Rows", "all", keys).await;
    }
    groups.end().await;
    println!("{rows} rows and {partitions} partitions were written in {:.1?}", begun.elapsed());
}

fn group(engine: &Engine, partition: &str) -> Transaction {
    Transaction::new(PartitionKey::new(partition).unwrap(), engine.capabilities().limits).unwrap()
}

/// Inserts entities in batches, several of them at the same time.
struct Groups {
    engine: Engine,
    under_way: VecDeque<JoinHandle<table_core::Result<Committed>>>,
}

impl Groups {
    async fn write(&mut self, table: &str, partition: &str, keys: impl IntoIterator<Item = String>) {
        let row = TableEntity::new(partition, "").unwrap().with("N", 7).to_row().unwrap();
        let mut transaction = group(&self.engine, partition);
        for key in keys {
            let kind = OperationKind::Insert(row.clone());
            transaction.push(Operation { row_key: RowKey::new(key).unwrap(), kind }).unwrap();
        }
        let (engine, table) = (self.engine.clone(), TableName::new(table).unwrap());
        self.under_way.push_back(tokio::spawn(async move { engine.submit(&table, transaction).await }));
        if self.under_way.len() > 512
            && let Some(first) = self.under_way.pop_front()
        {
            first.await.unwrap().unwrap();
        }
    }

    async fn end(self) {
        for group in self.under_way {
            group.await.unwrap().unwrap();
        }
    }
}

/// Repeatedly writes a change to the feed of one partition, as an application would, and reads other partitions.
async fn write_feed(program: CountingStore<Engine>) {
    let (feed, table) = (Feed::new(program.clone()), TableName::new("HelpDesk").unwrap());
    let source = RowKey::new("ticket_000007").unwrap();
    loop {
        let transaction =
            Transaction::new(PartitionKey::new("contoso").unwrap(), program.capabilities().limits).unwrap();
        let change = FeedChange { source: &source, kind: "Ticket", payload: b"{}" };
        feed.submit(&table, transaction, &[change]).await.unwrap();
        for (partition, count) in [("fabrikam", 7), ("northwind", 1)] {
            let key = EntityKey::new(partition, "ticket_000001").unwrap();
            for _ in 0..count {
                program.get(&table, &key, &Select::All).await.unwrap();
            }
        }
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
    let load = PartitionLoad::default();
    // This acts as another program in the same process. The heat page shows its requests.
    let program = CountingStore::new(engine.clone(), load.clone());
    let source =
        Source::new(DynTableStore::new(engine.clone()), "demo").with_engine(engine.clone()).with_load(load);
    let server = Server::bind(([127, 0, 0, 1], 0).into(), Explorer::writable(source)).await.unwrap();
    let sample = Server::bind(([127, 0, 0, 1], 0).into(), Explorer::writable(demo::source().await.unwrap()));
    let sample = sample.await.unwrap();
    let mut node = Command::new("node");
    node.current_dir(folder).arg("suite.mjs").arg(server.url()).arg(chromium).arg(pictures);
    let (rows, partitions) = large();
    node.arg(rows.to_string()).arg(partitions.to_string()).arg(sample.url());
    node.arg(windows()).arg(std::process::id().to_string());
    let filling = tokio::spawn(fill(engine.clone()));
    let writer = tokio::spawn(write_feed(program));
    let (ended, end) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve_until(async { drop(end.await) }));
    let sampling = tokio::spawn(sample.serve_until(std::future::pending()));
    let output = tokio::task::spawn_blocking(move || node.output()).await.unwrap();
    writer.abort();
    filling.abort();
    sampling.abort();
    drop(ended);
    serving.await.unwrap();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // `--nocapture` shows the measurements of the run.
    println!("{text}");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
