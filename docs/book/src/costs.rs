//! Tests that the tables in the Cost sections contain the counts measured in actual runs.
//!
//! A page contains a table between `<!-- counted: NAME -->` and `<!-- end -->`. The test for NAME runs each call on a metered in-memory engine and fails if a
//! count differs from the table. `TABLES_UPDATE=1 cargo test -p book costs` updates the tables.

mod opening;
mod outbox;
mod queues;
mod tables;
mod views;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use table_advice::meter::Meter;
use table_patterns::embedded::EngineOptions;
use table_patterns::runtime::Runtime;
use table_patterns::{Clock, Engine, Error, ticks};

use crate::pages::{docs, hold, read};
use queues::CountedQueues;

type Outcome = Result<(), Error>;

/// A metered store with a clock that advances only on request, together with the rows of the table that have been counted so far.
struct Counted {
    store: Meter<Engine>,
    queues: CountedQueues,
    now: Arc<AtomicU64>,
    rows: String,
}

impl Counted {
    fn new() -> Self {
        let now = Arc::new(AtomicU64::new(ticks::from_datetime(ticks::now()).unwrap_or_default()));
        let engine = EngineOptions::new().clock(clock(&now)).in_memory();
        let (store, queues) = (Meter::new(engine.clone()), CountedQueues::new(engine));
        let rows = "| call | requests to tables | entities written | requests to queues |\n| --- | ---: | ---: | ---: |\n";
        Self { store, queues, now, rows: rows.to_owned() }
    }

    /// Returns a runtime that uses the store's clock and never waits.
    fn runtime(&self) -> Runtime {
        Runtime::new().clock(clock(&self.now)).sleep_by(|_| Box::pin(async {})).seed(1)
    }

    fn advance(&self, seconds: u64) {
        self.now.fetch_add(seconds * 10_000_000, Ordering::Relaxed);
    }

    /// Starts counting the requests of a call.
    fn start(&self) {
        self.store.take();
        self.queues.take();
    }

    /// Stops counting. Returns the number of requests to tables, the number of written entities and the number of requests to queues.
    fn take(&self) -> [u64; 3] {
        let counts = self.store.take();
        [counts.requests, counts.operations, self.queues.take()]
    }

    /// Stops counting and adds the counts to the table as the row for `call`.
    fn row(&mut self, call: &str) {
        let counts = self.take();
        self.push(call, counts);
    }

    fn push(&mut self, call: &str, [requests, written, queues]: [u64; 3]) {
        let _ = writeln!(self.rows, "| {call} | {requests} | {written} | {queues} |");
    }

    /// Checks that the table with the given name on a page matches the counted rows.
    fn hold(self, page: &str, name: &str) {
        let text = read(page);
        let start = format!("<!-- counted: {name} -->\n");
        let from = text.find(&start).unwrap_or_else(|| panic!("{page} has no `{start}`")) + start.len();
        let until = from + text[from..].find("<!-- end -->").expect("the table ends with `<!-- end -->`");
        let generated = format!("{}\n{}\n{}", &text[..from], self.rows, &text[until..]);
        hold(&docs().join(page), &generated);
    }
}

fn clock(now: &Arc<AtomicU64>) -> Clock {
    let now = Arc::clone(now);
    Clock::new(move || now.load(Ordering::Relaxed))
}

/// Runs one case to completion.
fn run(case: impl Future<Output = Outcome>) {
    pollster::block_on(case).unwrap();
}
