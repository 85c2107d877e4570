//! Tests workers and sweeps whose clocks differ from the clock of the queue. Sweeps also run while a row is processed.

use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use table_core::query::Query;

use super::*;
use crate::outbox::notes::Note;
use crate::outbox::rows::Pending;

const SECOND: u64 = 10_000_000;
/// The numbers of seconds by which a clock is ahead.
const AHEAD: [u64; 4] = [0, 20, 60 * 60, 9 * 24 * 60 * 60];

/// Returns an outbox whose process has a clock that is ahead.
fn ahead(
    (outbox, engine, time): &(Outbox<Engine, Engine>, Engine, Arc<AtomicU64>),
    seconds: u64,
) -> Outbox<Engine, Engine> {
    let now = Arc::clone(time);
    let clock = Clock::new(move || now.load(Ordering::SeqCst) + seconds * SECOND);
    let pace = Runtime::new().clock(clock).sleep_by(|_| Box::pin(async {}));
    Outbox::with_runtime(engine.clone(), engine.clone(), outbox.queue().clone(), pace)
}

/// A handler that fails, and counts its calls.
struct Failing(Arc<AtomicUsize>);

impl Handler<Mail> for Failing {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Err(Error::new(ErrorCode::Unsupported, "the mail server is missing"))
    }
}

#[test]
fn pat_ec_7_a_row_waits_for_its_next_attempt_with_any_clock_of_the_worker() {
    for seconds in AHEAD {
        let world = outbox();
        let (outbox, engine, _) = &world;
        let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
        block_on(engine.create_table(&table)).unwrap();
        record(outbox, &table, "Sales");
        let calls = Arc::new(AtomicUsize::new(0));
        let worker = Worker::new(ahead(&world, seconds)).handler(Failing(Arc::clone(&calls)));
        for _ in 0..8 {
            block_on(outbox.notify(&table, &sales)).unwrap();
            block_on(worker.run_until_idle()).unwrap();
        }
        let poison = block_on(outbox.backlog()).unwrap().poison;
        assert_eq!((calls.load(Ordering::SeqCst), poison), (1, 0), "{seconds} seconds ahead");
    }
}

/// A handler that runs a sweep and another worker during its call.
struct Beside {
    world: (Outbox<Engine, Engine>, Engine, Arc<AtomicU64>),
    table: TableName,
    /// The outbox that the sweep uses.
    swept: Outbox<Engine, Engine>,
    other: Arc<Worker<Engine, Engine>>,
    /// The seconds that pass before the handler extends its lease. `None` if it does not extend the lease.
    keeps_after: Option<u64>,
    /// `true` if each attempt fails.
    fails: bool,
}

impl Handler<Mail> for Beside {
    async fn handle(&self, _: &Mail, delivery: work::Delivery<'_>) -> Result<()> {
        let (outbox, _, time) = &self.world;
        let swept = Sweep::new(self.swept.clone()).sweep_registered().await?;
        assert_eq!((swept.pending, swept.prompted), (1, 0), "the row is claimed");
        outbox.notify(&self.table, &PartitionKey::new("Sales")?).await?;
        self.other.run_until_idle().await?;
        if let Some(seconds) = self.keeps_after {
            time.fetch_add(seconds * SECOND, Ordering::SeqCst);
            delivery.keep().await?;
        }
        if self.fails {
            Err(Error::new(ErrorCode::Unsupported, "the mail server is missing"))
        } else {
            Ok(())
        }
    }
}

/// Processes rows while a sweep and another worker run. Returns the number of rows that the other worker has processed, the metrics of the worker, and the
/// number of rows that are still pending.
fn process(
    (worker_ahead, other_ahead, sweep_ahead): (u64, u64, u64),
    lease: Duration,
    (keeps_after, fails): (Option<u64>, bool),
) -> (u64, work::WorkMetrics, u64) {
    let world = outbox();
    let (plain, engine, time) = &world;
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    record(plain, &table, "Sales");
    // The row is old enough for a sweep.
    time.fetch_add(600 * SECOND, Ordering::SeqCst);
    let other = Arc::new(Worker::new(ahead(&world, other_ahead)).handler(Nothing));
    let options = WorkerOptions { lease, ..WorkerOptions::default() };
    let (swept, outbox) = (ahead(&world, sweep_ahead), ahead(&world, worker_ahead));
    let (plain, engine) = (plain.clone(), engine.clone());
    let world = (plain.clone(), engine, Arc::clone(time));
    let handler = Beside { world, table, swept, other: Arc::clone(&other), keeps_after, fails };
    let worker = Worker::with_options(outbox, options).handler(handler);
    block_on(worker.run_once()).unwrap();
    (other.metrics().done, worker.metrics(), block_on(plain.backlog()).unwrap().waiting)
}

#[test]
fn pat_ec_7_a_claim_is_respected_by_workers_with_any_clocks() {
    for (worker, other) in AHEAD.into_iter().flat_map(|one| AHEAD.map(|other| (one, other))) {
        for seconds in [30, 2 * 60 * 60] {
            let lease = Duration::from_secs(seconds);
            let (done, metrics, pending) = process((worker, other, 0), lease, (None, false));
            let at = format!("{worker} and {other} seconds ahead, a lease of {seconds} seconds");
            assert_eq!((done, metrics.done, metrics.lost, pending), (0, 1, 0, 0), "{at}");
        }
    }
}

#[test]
fn pat_ec_8_a_sweep_during_an_attempt_loses_no_outcome() {
    for sweep in AHEAD {
        for seconds in [30, 2 * 60 * 60] {
            for keeps_after in [None, Some(seconds / 2 + 1)] {
                for fails in [false, true] {
                    let lease = Duration::from_secs(seconds);
                    let (done, metrics, pending) = process((0, 0, sweep), lease, (keeps_after, fails));
                    let at =
                        format!("{sweep} seconds ahead, lease {seconds}, extended after {keeps_after:?}");
                    let expected = if fails { (0, 0, 0, 1) } else { (0, 1, 0, 0) };
                    assert_eq!((done, metrics.done, metrics.lost, pending), expected, "{at}: {metrics:?}");
                }
            }
        }
    }
}

#[test]
fn pat_ec_8_a_note_during_an_attempt_loses_no_outcome() {
    for keeps_after in [None, Some(16)] {
        for fails in [false, true] {
            let world = outbox();
            let (plain, engine, time) = &world;
            let table = TableName::new("Company").unwrap();
            block_on(engine.create_table(&table)).unwrap();
            record(plain, &table, "Sales");
            let noted = Noted { engine: engine.clone(), time: Arc::clone(time), table, keeps_after, fails };
            let worker = Worker::new(plain.clone()).handler(noted);
            block_on(worker.run_once()).unwrap();
            let expected = if fails { (0, 0, 1) } else { (1, 0, 0) };
            let (metrics, backlog) = (worker.metrics(), block_on(plain.backlog()).unwrap());
            let at = format!("extended after {keeps_after:?}, fails: {fails}");
            assert_eq!((metrics.done, metrics.lost, backlog.waiting), expected, "{at}: {metrics:?}");
        }
    }
}

/// A handler during whose call a sweep adds a note to the row, as if the store's clock were ahead of the queue's clock.
struct Noted {
    engine: Engine,
    time: Arc<AtomicU64>,
    table: TableName,
    /// The seconds that pass before the handler extends its lease. `None` if it does not extend the lease.
    keeps_after: Option<u64>,
    /// `true` if each attempt fails.
    fails: bool,
}

impl Handler<Mail> for Noted {
    async fn handle(&self, _: &Mail, delivery: work::Delivery<'_>) -> Result<()> {
        let sales = PartitionKey::new("Sales")?;
        let query = Query::new(crate::outbox::rows::range(&sales));
        let page = self.engine.query(&self.table, &query, None).await?;
        for row in page.rows.iter() {
            let pending = Pending::read(&self.table, row)?;
            let note = pending.note(Note::Prompted(self.time.load(Ordering::SeqCst)))?;
            let mut transaction = Transaction::new(sales.clone(), self.engine.capabilities().limits)?;
            transaction.push(note)?;
            self.engine.submit(&self.table, transaction).await?;
        }
        if let Some(seconds) = self.keeps_after {
            self.time.fetch_add(seconds * SECOND, Ordering::SeqCst);
            delivery.keep().await?;
        }
        if self.fails {
            Err(Error::new(ErrorCode::Unsupported, "the mail server is missing"))
        } else {
            Ok(())
        }
    }
}

#[test]
fn pat_ec_8_a_sweep_sends_a_message_for_a_row_at_least_once_a_day() {
    for hours in [1, 6, 20] {
        let (outbox, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        record(&outbox, &table, "Sales");
        let min_age = Duration::from_secs(hours * 60 * 60);
        let mut sent = vec![0];
        for hour in 1..=10 * 24 {
            time.fetch_add(60 * 60 * SECOND, Ordering::SeqCst);
            if block_on(Sweep::new(outbox.clone()).min_age(min_age).sweep_registered()).unwrap().prompted > 0
            {
                sent.push(hour);
            }
        }
        let gaps: Vec<_> = sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.len() >= 9 && gaps.iter().all(|gap| (hours..=24).contains(gap)), "{hours}: {gaps:?}");
    }
}
