//! Measures the time from a change until the outbox has applied its effect. The changes are made at a fixed rate.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use pollster::block_on;
use serde::{Deserialize, Serialize};
use table_core::embedded::Engine;
use table_core::key::RowKey;
use table_core::queue::QueueName;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Entity, Operation, OperationKind, Table, TableStoreExt};
use table_patterns::outbox::{Intent, Message, Step};
use table_patterns::work::{Delivery, Handler, Runtime, Worker, WorkerOptions};

use crate::Outcome;
use crate::data::{Reading, site};
use crate::harness::{Figure, Rate, repeat};
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::report::{Report, Target};
use crate::stage::Stage;

/// The number of changes per second.
const PACE: u32 = 1_000;
/// The number of threads that make changes. Each of them waits for the disk.
const WRITERS: usize = 64;
/// The number of worker threads. Each of them waits for the disk.
const WORKERS: usize = 64;
/// A worker's pause after it has found no work.
const IDLE: Duration = Duration::from_millis(10);
/// The maximum time to wait for all changes to take effect after the last change was made.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The message sent by each change. Its handler records that the change has taken effect.
#[derive(Serialize, Deserialize)]
struct Made;

impl Message for Made {
    const NAME: &'static str = "seen";
    const VERSION: u32 = 1;
}

type Outbox = table_patterns::outbox::Outbox<Engine, Engine>;

/// The time, in ticks, from the `Timestamp` of each change until its effect. If two workers process a change, the first effect counts.
#[derive(Clone, Debug, Default)]
struct Lags(Arc<Mutex<HashMap<RowKey, u64>>>);

impl Lags {
    fn with<T>(&self, look: impl FnOnce(&mut HashMap<RowKey, u64>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns all delays, and the 99th percentile of the delays. Each delay is converted to a rate, which is its reciprocal.
    fn figures(&self) -> [Figure; 2] {
        let mut lags: Vec<u64> = self.with(|lags| lags.values().copied().collect());
        lags.sort_unstable();
        let elapsed = |ticks: &u64| Duration::from_nanos(ticks * 100);
        let rate = |ticks| Rate { operations: 1, elapsed: elapsed(ticks) }.per_second();
        let late = (lags.len() * 99).div_ceil(100).checked_sub(1).and_then(|late| lags.get(late));
        let late = late.map(rate).into_iter().collect();
        [Figure::new("all", lags.iter().map(rate).collect()), Figure::new("late", late)]
    }

    /// Waits until the given number of changes have taken effect.
    fn wait_for(&self, wanted: u32) -> Outcome<()> {
        let start = Instant::now();
        while self.with(|lags| lags.len()) < usize::try_from(wanted)? {
            if start.elapsed() > TIMEOUT {
                return Err("changes are lost, or the workers are too slow for the pace".into());
            }
            thread::sleep(IDLE);
        }
        Ok(())
    }
}

/// A handler that records the effect of a change.
struct Seen(Lags, Runtime);

impl Handler<Made> for Seen {
    async fn handle(&self, _: &Made, call: Delivery<'_>) -> table_core::Result<()> {
        let lag = self.1.now().saturating_sub(call.version.unwrap_or_default());
        self.0.with(|lags| *lags.entry(call.source.clone()).or_insert(lag));
        Ok(())
    }
}

/// Measures the times and adds them to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let engine = Engine::open(stage.folder.join("outbox"))?;
    let tables = Tables::of(&engine)?;
    let mirror = block_on(engine.table_named::<Reading>("Mirror")?.create_if_missing())?;
    // Each thread does only one thing at a time, so waiting can block the thread.
    let pace = Runtime::new().sleep_by(|time| async move { thread::sleep(time) }.boxed());
    let outbox = Outbox::with_runtime(engine.clone(), engine, QueueName::new("changes")?, pace.clone());
    block_on(outbox.create_queues())?;
    let alone = repeat(stage.options.time, 1, || tables.insert(stage.fresh()))?.per_second();

    let (lags, is_over) = (Lags::default(), AtomicBool::new(false));
    let options = WorkerOptions { poll_interval: IDLE, ..WorkerOptions::default() };
    let time = stage.options.time * u32::try_from(stage.options.rounds)? * 2;
    let wanted = u32::try_from(u128::from(PACE) * time.as_millis() / 1_000)?;
    let made = thread::scope(|scope| {
        for _ in 0..WORKERS {
            let seen = Seen(lags.clone(), pace.clone());
            let worker = Worker::with_options(outbox.clone(), options).handler(seen);
            let is_over = &is_over;
            scope.spawn(move || block_on(worker.run(|| is_over.load(Ordering::Relaxed))));
        }
        let made = paced(wanted, || change(&outbox, tables.table(), &mirror, &stage.fresh()));
        let made = made.and_then(|made| lags.wait_for(wanted).map(|()| made));
        is_over.store(true, Ordering::Relaxed);
        made
    })?;
    check(&mirror, stage.partitions(), wanted)?;

    let work = format!("outbox at {PACE} changes a second");
    let pace = Rate { operations: PACE.into(), elapsed: Duration::from_secs(1) };
    let rates = [("made", made), ("wanted", pace)];
    let rates = rates.map(|(name, rate)| Figure::new(name, vec![rate.per_second()]));
    // This row is shown for information only. A busy machine cannot run so many threads, and would miss a target for that reason alone.
    report.compare_figures(&format!("{work}: the pace"), &rates, Target::Shown);
    for (what, lag) in ["median", "99th of 100"].into_iter().zip(lags.figures()) {
        let figures = [lag, Figure::new("insert", vec![alone])];
        report.compare_bound(
            &format!("{work}: lag, {what}, against a durable insert"),
            &figures,
            Target::Shown,
        );
    }
    Ok(())
}

/// Inserts a reading, and an outbox intent that inserts the reading into the mirror table. Then notifies the workers.
fn change(
    outbox: &Outbox,
    table: &Table<Reading, Engine>,
    mirror: &Table<Reading, Engine>,
    reading: &Reading,
) -> Outcome<()> {
    let (key, row) = (reading.key_of()?, reading.to_row()?);
    let copy = Step::insert_or_replace(mirror.name()?.clone(), key.clone(), row.clone());
    let intent = Intent::of(key.row_key.clone()).step(copy).step(Step::call(&Made)?);
    let mut transaction = Transaction::new(key.partition_key, outbox.store().capabilities().limits)?;
    transaction.push(Operation { row_key: key.row_key, kind: OperationKind::Insert(row) })?;
    outbox.record(&mut transaction, &intent)?;
    block_on(outbox.submit(table.name()?, transaction))?;
    Ok(())
}

/// Runs an operation the given number of times, at the rate [`PACE`]. If no thread is free, the next run starts late.
fn paced(operations: u32, operation: impl Fn() -> Outcome<()> + Sync) -> Outcome<Rate> {
    let (next, start) = (AtomicU32::new(0), Instant::now());
    thread::scope(|scope| {
        let work = || -> Outcome<()> {
            loop {
                let turn = next.fetch_add(1, Ordering::Relaxed);
                if turn >= operations {
                    return Ok(());
                }
                let due = Duration::from_secs(1) * turn / PACE;
                thread::sleep(due.saturating_sub(start.elapsed()));
                operation()?;
            }
        };
        let threads: Vec<_> = (0..WRITERS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a writer panicked")?)
    })?;
    Ok(Rate { operations: operations.into(), elapsed: start.elapsed() })
}

/// Checks that the mirror table contains one entity for each change.
fn check(mirror: &Table<Reading, Engine>, partitions: u32, wanted: u32) -> Outcome<()> {
    let mut found = 0;
    for partition in 0..partitions {
        block_on(mirror.query(Reading::partition(site(partition))).for_each(|_| found += 1))?;
    }
    if found != wanted {
        return Err(format!("the mirror has {found} entities after {wanted} changes").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_late_figure_is_the_99th_percentile() {
        let lags = Lags::default();
        let key = |millis: u64| RowKey::new(millis.to_string()).unwrap();
        lags.with(|lags| lags.extend((1..=200).map(|millis| (key(millis), millis * 10_000))));
        let [all, late] = lags.figures();
        let millis = |rate: f64| format!("{:.0}", 1_000.0 / rate);
        assert_eq!([millis(all.max()), millis(all.min()), millis(late.median())], ["1", "200", "198"]);
    }
}
