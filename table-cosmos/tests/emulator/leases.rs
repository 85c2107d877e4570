//! Tests of writes whose lease ends before a response arrives (EVO-3).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use table_core::query::Select;
use table_core::retry::Retry;
use table_core::runtime::Runtime;
use table_core::store::{Committed, WriteLease};
use table_core::{Clock, EntityKey, Error, ErrorCode, IfMatch, OperationKind, Result, TableName, TableStore};
use table_cosmos::Options;
use table_cosmos::emulator::{Broken, Delivery, Emulator, Network, Request};
use tokio::time::Instant;

use crate::operation::{row, transaction};

/// The network's reaction to write requests.
#[derive(Clone, Copy, Debug)]
enum Writes {
    Served,
    /// No response arrives. The request is applied if the value is `true`.
    Silent(bool),
    /// The connection breaks, the request is not applied, and the lease ends.
    BrokenAtTheEnd,
}

/// A mock network that counts write requests.
struct Scripted {
    account: Emulator,
    act: Writes,
    sent: AtomicU32,
    /// The number of seconds by which the lease's clock is ahead of the test runtime's clock.
    passed: Arc<AtomicU64>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl Network for Scripted {
    fn deliver(&self, request: Request) -> Delivery {
        let account = self.account.clone();
        let is_query = request.header("x-ms-documentdb-isquery").is_some();
        let writes = matches!(request.method.as_str(), "POST" | "PUT") && !is_query;
        if !writes || !request.target.contains("/docs") {
            return Box::pin(async move { account.receive(&request).await });
        }
        self.sent.fetch_add(1, Ordering::Relaxed);
        let (act, passed) = (self.act, Arc::clone(&self.passed));
        Box::pin(async move {
            match act {
                Writes::Served => account.receive(&request).await,
                Writes::Silent(is_applied) => {
                    if is_applied {
                        account.receive(&request).await?;
                    }
                    std::future::pending().await
                }
                Writes::BrokenAtTheEnd => {
                    passed.store(60, Ordering::Relaxed);
                    Err(Broken::AfterSending)
                }
            }
        })
    }
}

/// The outcome of a write under a lease of five seconds.
struct Outcome {
    committed: Result<Committed>,
    /// The number of write requests sent.
    sent: u32,
    time: Duration,
    is_applied: bool,
}

/// Replaces one or two entities unconditionally.
fn written(count: usize, act: Writes) -> Outcome {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (account, table) = (Emulator::new(false).unwrap(), TableName::new("Things").unwrap());
        account.create(&table, 1, 1, None).unwrap();
        let calm = account.open(Options::new()).await.unwrap();
        let rows = |text: &str, kind: fn(table_core::Row) -> OperationKind| {
            let operation = |at: usize| (format!("r{at}"), kind(row(text)));
            (0..count).map(operation).collect::<Vec<_>>()
        };
        let insert = transaction(&calm, rows("old", OperationKind::Insert));
        let old = calm.submit(&table, insert).await.unwrap();
        let begun = Instant::now();
        let passed = Arc::<AtomicU64>::default();
        let network = Scripted { account, act, sent: AtomicU32::new(0), passed: Arc::clone(&passed) };
        let network = Arc::new(network);
        let elapsed = move || begun.elapsed() + Duration::from_secs(passed.load(Ordering::Relaxed));
        let lease = WriteLease::new(&Clock::new(|| 0).with_elapsed(elapsed), Duration::from_secs(5));
        let sleep = Runtime::new().sleep_by(|time| Box::pin(tokio::time::sleep(time)));
        let options = Options::new().retry(Retry::default().with_runtime(sleep));
        let store = network.account.open_over(options, network.clone()).await.unwrap();
        let replace = rows("new", |row| OperationKind::Replace(row, IfMatch::Any));
        let write = transaction(&store, replace).with_lease(lease);
        let committed = store.submit(&table, write).await;
        let time = begun.elapsed();
        let key = EntityKey::new("p", "r0").unwrap();
        let stored = calm.get(&table, &key, &Select::All).await.unwrap().map(|stored| stored.etag);
        let sent = network.sent.load(Ordering::Relaxed);
        Outcome { committed, sent, time, is_applied: stored != old[0] }
    })
}

fn refused(outcome: &Outcome) -> &Error {
    outcome.committed.as_ref().unwrap_err()
}

#[test]
fn evo_3_a_write_without_a_response_ends_soon_after_its_lease() {
    let limit = Duration::from_secs(5) + WriteLease::ATTEMPT;
    for count in [1, 2] {
        let served = written(count, Writes::Served);
        assert_eq!((served.committed.unwrap().len(), served.sent), (count, 1));
        let lost = written(count, Writes::Silent(false));
        assert!(refused(&lost).is_ambiguous(), "{}", refused(&lost));
        assert_eq!(refused(&lost).code(), ErrorCode::OperationTimedOut);
        assert!(refused(&lost).to_string().contains("has not acknowledged"), "{}", refused(&lost));
        assert_eq!((lost.sent, lost.is_applied), (1, false));
        assert!((limit..limit + Duration::from_secs(1)).contains(&lost.time), "{:?}", lost.time);
        // The stored entity proves that the request was applied.
        let applied = written(count, Writes::Silent(true));
        assert_eq!((applied.committed.unwrap().len(), applied.sent, applied.is_applied), (count, 1, true));
    }
}

#[test]
fn evo_3_a_lost_response_before_the_end_of_the_lease_remains_ambiguous() {
    for count in [1, 2] {
        let lost = written(count, Writes::BrokenAtTheEnd);
        let error = refused(&lost);
        assert!(error.is_ambiguous() && !WriteLease::has_ended(error), "{error}");
        assert!(!error.to_string().contains("no attempt was made"), "{error}");
        assert_eq!((lost.sent, lost.is_applied), (1, false));
    }
}
