//! A store for tests. It can fail as if the process died at a submit, run the code of another writer before a request, and count requests.

use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::transaction::Transaction;
use table_core::{Error, ErrorCode, Result};

/// The point at which a program that uses a [`Disturbed`] store dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The program dies before the submit is sent.
    Before,
    /// The program dies after the submit was applied, before it receives the response.
    After,
}

type Hook = Box<dyn Fn(&Engine) + Send>;

/// A wrapper of an engine. It counts requests, can make all submits from a given one onwards fail, and runs functions of the test before submits and gets.
#[derive(Clone)]
pub(super) struct Disturbed {
    pub(super) engine: Engine,
    pub(super) submits: Arc<AtomicUsize>,
    pub(super) gets: Arc<AtomicUsize>,
    /// The last submitted transaction, whether or not it was applied.
    pub(super) last: Arc<Mutex<Option<Transaction>>>,
    fault: Arc<Mutex<Option<(usize, Fault)>>>,
    hooks: Arc<Mutex<Vec<Hook>>>,
    get_hooks: Arc<Mutex<Vec<Hook>>>,
    under_way: Arc<AtomicUsize>,
    /// The maximum number of submits in progress at the same time.
    pub(super) at_once: Arc<AtomicUsize>,
}

impl Disturbed {
    pub(super) fn new(engine: Engine) -> Self {
        Self {
            engine,
            submits: Arc::default(),
            gets: Arc::default(),
            last: Arc::default(),
            fault: Arc::default(),
            hooks: Arc::default(),
            get_hooks: Arc::default(),
            under_way: Arc::default(),
            at_once: Arc::default(),
        }
    }

    /// Makes a submit and all later submits fail. `submit` is the number of submits that still succeed after this call.
    pub(super) fn die_at(&self, submit: usize, fault: Fault) {
        *self.fault.lock().unwrap() = Some((self.submits.load(Ordering::Relaxed) + submit, fault));
    }

    pub(super) fn live(&self) {
        *self.fault.lock().unwrap() = None;
    }

    /// Runs a function before the next submit. If several functions are set, one runs before each submit, in the order in which they were set.
    pub(super) fn before_submit(&self, hook: impl Fn(&Engine) + Send + 'static) {
        self.hooks.lock().unwrap().insert(0, Box::new(hook));
    }

    /// Runs a function before the next get. If several functions are set, one runs before each get, in the order in which they were set.
    pub(super) fn before_get(&self, hook: impl Fn(&Engine) + Send + 'static) {
        self.get_hooks.lock().unwrap().insert(0, Box::new(hook));
    }

    /// Awaits `work`. Returns its result, and the numbers of gets and submits that it has sent.
    pub(super) async fn count<T>(&self, work: impl Future<Output = T>) -> (T, usize, usize) {
        let (gets, submits) = (self.gets.load(Ordering::Relaxed), self.submits.load(Ordering::Relaxed));
        let done = work.await;
        (done, self.gets.load(Ordering::Relaxed) - gets, self.submits.load(Ordering::Relaxed) - submits)
    }
}

/// Counts a submit as being in progress until this value is dropped.
struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    fn begin(store: &Disturbed) -> Self {
        let now = store.under_way.fetch_add(1, Ordering::Relaxed) + 1;
        store.at_once.fetch_max(now, Ordering::Relaxed);
        Self(Arc::clone(&store.under_way))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets all other waiting futures make progress once.
async fn yield_once() {
    let mut is_second = false;
    poll_fn(|context| {
        if std::mem::replace(&mut is_second, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl fmt::Debug for Disturbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Disturbed")
    }
}

impl fmt::Display for Disturbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("disturbed")
    }
}

impl TableStore for Disturbed {
    fn capabilities(&self) -> &Capabilities {
        self.engine.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.engine.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.engine.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.engine.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let hook = self.get_hooks.lock().unwrap().pop();
        if let Some(hook) = hook {
            hook(&self.engine);
        }
        self.gets.fetch_add(1, Ordering::Relaxed);
        self.engine.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.engine.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let hook = self.hooks.lock().unwrap().pop();
        if let Some(hook) = hook {
            hook(&self.engine);
        }
        let number = self.submits.fetch_add(1, Ordering::Relaxed);
        *self.last.lock().unwrap() = Some(transaction.clone());
        let _under_way = UnderWay::begin(self);
        yield_once().await;
        let fault = *self.fault.lock().unwrap();
        let dead = Error::new(ErrorCode::OperationTimedOut, "the program died");
        match fault {
            Some((at, Fault::After)) if number == at => {
                self.engine.submit(table, transaction).await?;
                Err(dead)
            }
            Some((at, _)) if number >= at => Err(dead),
            _ => self.engine.submit(table, transaction).await,
        }
    }
}
