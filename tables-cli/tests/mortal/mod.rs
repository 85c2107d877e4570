//! Stores for a simulated process that dies at one of its requests, either before or after the store executes the request, and stores that count requests.

#![allow(dead_code, reason = "each test uses some of the functions")]

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::RngExt;
use rand::rngs::StdRng;
use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{DynTableStore, Engine, EntityKey, Result, TableName, TableStore, Transaction};
use tokio::sync::Notify;

/// The number of rows on a page. It is small, so even a small table has several pages.
const PAGE: usize = 40;

/// The remaining lifetime of one process, as a number of requests.
#[derive(Debug)]
struct Life {
    /// The number of requests until the process dies, including the request at which it dies, or `usize::MAX` if it does not die.
    left: AtomicUsize,
    /// `true` if the store executes the request at which the process dies.
    is_last_sent: bool,
    died: Notify,
}

/// One process's view of the store.
#[derive(Debug)]
struct Mortal {
    engine: Engine,
    life: Arc<Life>,
}

impl Mortal {
    /// Makes a request, unless the process dies. A process that has died never continues.
    async fn call<T>(&self, request: impl Future<Output = Result<T>>) -> Result<T> {
        let spend = |left: usize| (left != usize::MAX).then(|| left.saturating_sub(1));
        match self.life.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend) {
            Ok(0) => std::future::pending().await,
            Ok(1) => {
                if self.life.is_last_sent {
                    // The process dies before it learns the outcome of the request.
                    let _ = request.await;
                }
                self.life.died.notify_one();
                std::future::pending().await
            }
            Ok(_) | Err(_) => request.await,
        }
    }
}

impl fmt::Display for Mortal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store")
    }
}

impl TableStore for Mortal {
    fn capabilities(&self) -> &Capabilities {
        self.engine.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.call(self.engine.create_table(table)).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.call(self.engine.delete_table(table)).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.call(self.engine.list_tables(prefix, from, top)).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.call(self.engine.get(table, key, select)).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let query = Query { top: Some(query.top.map_or(PAGE, |top| top.min(PAGE))), ..query.clone() };
        self.call(self.engine.query(table, &query, from)).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.call(self.engine.submit(table, transaction)).await
    }
}

/// Runs a command in several processes, one after another. All processes except the last one may die at one of their first requests. Returns the result of the
/// last process, and the number of processes that died.
pub(crate) async fn killed<T, const N: usize>(
    random: &mut StdRng,
    engines: [&Engine; N],
    command: impl AsyncFn([DynTableStore; N]) -> tables_cli::failure::Result<T>,
) -> (T, usize) {
    let mut deaths = 0;
    for _ in 0..5 {
        let life = Arc::new(Life {
            left: AtomicUsize::new(random.random_range(1..40)),
            is_last_sent: random.random_bool(0.5),
            died: Notify::new(),
        });
        let stores = engines.map(|engine| {
            DynTableStore::new(Arc::new(Mortal { engine: engine.clone(), life: Arc::clone(&life) }))
        });
        tokio::select! {
            biased;
            () = life.died.notified() => deaths += 1,
            done = command(stores) => drop(done.expect("a command that is not killed succeeds")),
        }
    }
    let stores = engines.map(|engine| DynTableStore::new(engine.clone()));
    (command(stores).await.expect("the last command succeeds"), deaths)
}

/// Returns a store backed by the given engine, and a function that returns the number of requests to the store.
pub(crate) fn counted(engine: &Engine) -> (DynTableStore, impl Fn() -> usize + use<>) {
    const ALL: usize = usize::MAX - 1;
    let life = Arc::new(Life { left: AtomicUsize::new(ALL), is_last_sent: false, died: Notify::new() });
    let store = Mortal { engine: engine.clone(), life: Arc::clone(&life) };
    (DynTableStore::new(Arc::new(store)), move || ALL - life.left.load(Ordering::Relaxed))
}
