//! Tests circuit breakers with handlers whose targets are partly down, or down for a short time.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::task::Poll;

use table_core::key::EntityKey;

use super::*;

const SECOND: u64 = 10_000_000;
const HOUR: u64 = 3_600 * SECOND;

/// A handler that sends to several destinations. Destinations whose names begin with `dead` are always down. While `are_down` is `true`, all destinations are.
#[derive(Clone, Default)]
struct Webhooks {
    are_down: Arc<AtomicBool>,
    /// If `true`, each call yields at its start. All concurrent calls then begin before the first call ends.
    is_slow: bool,
    error: Option<Error>,
    sent: Arc<Mutex<BTreeSet<String>>>,
}

impl Handler<Mail> for Webhooks {
    async fn handle(&self, Mail(to): &Mail, _: work::Delivery<'_>) -> Result<()> {
        if self.is_slow {
            yield_once().await;
        }
        if self.are_down.load(Ordering::SeqCst) || to.starts_with("dead") {
            return Err(self.error.clone().unwrap_or_else(|| work::outage("no answer")));
        }
        self.sent.lock().unwrap().insert(to.clone());
        Ok(())
    }
}

/// Lets the other futures in the same task make progress.
async fn yield_once() {
    let mut has_yielded = false;
    let once = move |context: &mut std::task::Context<'_>| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    };
    std::future::poll_fn(once).await;
}

struct World {
    outbox: Outbox<Engine, Engine>,
    table: TableName,
    time: Arc<AtomicU64>,
    hooks: Webhooks,
}

impl World {
    /// Creates an outbox with one recorded call per destination, all in one partition.
    fn new(destinations: &[String]) -> Self {
        let (outbox, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        for to in destinations {
            let partition = PartitionKey::new("Sales").unwrap();
            let mut transaction = Transaction::new(partition, engine.capabilities().limits).unwrap();
            let call = Step::call(&Mail(to.clone())).unwrap();
            outbox
                .record(&mut transaction, &Intent::of(RowKey::new(to.as_str()).unwrap()).step(call))
                .unwrap();
            block_on(outbox.submit(&table, transaction)).unwrap();
        }
        Self { outbox, table, time, hooks: Webhooks::default() }
    }

    fn worker(&self, options: WorkerOptions) -> Worker<Engine, Engine> {
        Worker::with_options(self.outbox.clone(), options).handler(self.hooks.clone())
    }

    fn pass(&self, ticks: u64) {
        self.time.fetch_add(ticks, Ordering::SeqCst);
    }

    fn sent(&self) -> usize {
        self.hooks.sent.lock().unwrap().len()
    }
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}{number:03}")).collect()
}

#[test]
fn pat_ec_5_a_short_outage_delays_work_in_progress_by_the_first_delay() {
    for is_slow in [false, true] {
        let mut world = World::new(&names("a", 16));
        world.hooks.is_slow = is_slow;
        world.hooks.error = Some(Error::new(ErrorCode::DiskFull, "no space"));
        let worker = world.worker(WorkerOptions::default());
        world.hooks.are_down.store(true, Ordering::SeqCst);
        block_on(worker.run_until_idle()).unwrap();
        world.hooks.are_down.store(false, Ordering::SeqCst);
        for _ in 0..2 {
            world.pass(5 * SECOND);
            block_on(worker.run_until_idle()).unwrap();
        }
        assert_eq!(world.sent(), 16, "{:?}", worker.metrics());
    }
}

#[test]
fn pat_ec_5_contention_of_one_message_delays_no_other() {
    let mut destinations = names("dead", 1);
    destinations.extend(names("live", 20));
    let mut world = World::new(&destinations);
    world.hooks.error = Some(Error::new(ErrorCode::UpdateConditionNotSatisfied, "changed meanwhile"));
    let options = WorkerOptions { concurrency: 1, ..WorkerOptions::default() };
    block_on(world.worker(options).run_until_idle()).unwrap();
    assert_eq!(world.sent(), 20);
}

#[test]
fn pat_ec_5_a_dead_destination_does_not_stop_the_calls_of_others() {
    for (concurrency, dead, were_all_down) in
        [(1, 1, false), (1, 20, true), (16, 1, true), (16, 40, false), (16, 90, true)]
    {
        let mut destinations = names("dead", dead);
        destinations.extend(names("live", 10));
        let world = World::new(&destinations);
        let worker = world.worker(WorkerOptions { concurrency, ..WorkerOptions::default() });
        if were_all_down {
            world.hooks.are_down.store(true, Ordering::SeqCst);
            for _ in 0..12 * 12 {
                block_on(worker.run_until_idle()).unwrap();
                world.pass(HOUR / 12);
            }
            world.hooks.are_down.store(false, Ordering::SeqCst);
        }
        for _ in 0..8 * 12 {
            block_on(worker.run_until_idle()).unwrap();
            world.pass(HOUR / 12);
        }
        assert_eq!(
            world.sent(),
            10,
            "{concurrency} at a time, {dead} dead destinations: {:?}",
            worker.metrics()
        );
        assert_eq!(worker.metrics().poisoned, 0);
        // The dead destination does not delay a later message for long either.
        let partition = PartitionKey::new("Support").unwrap();
        let mut transaction =
            Transaction::new(partition, world.outbox.store().capabilities().limits).unwrap();
        let call = Step::call(&Mail("later".into())).unwrap();
        let intent = Intent::of(RowKey::new("later").unwrap()).step(call);
        world.outbox.record(&mut transaction, &intent).unwrap();
        block_on(world.outbox.submit(&world.table, transaction)).unwrap();
        for _ in 0..12 {
            block_on(worker.run_until_idle()).unwrap();
            world.pass(HOUR / 12);
        }
        assert_eq!(world.sent(), 11, "{concurrency} at a time, {dead} dead destinations");
    }
}

#[test]
fn pat_ec_5_a_message_that_was_not_tried_keeps_its_own_error() {
    let world = World::new(&names("dead", 3));
    let options = WorkerOptions { concurrency: 1, ..WorkerOptions::default() };
    block_on(world.worker(options).run_until_idle()).unwrap();
    let query = table_core::query::Query::new(table_core::query::KeyRange::ALL);
    let page = block_on(world.outbox.store().query(&world.table, &query, None)).unwrap();
    let errors = page.rows.iter().filter(|row| row.row.find("Error", &mut 0).unwrap().is_some()).count();
    assert_eq!((page.rows.len(), errors), (3, 1));
}

#[test]
fn pat_ec_5_a_dead_handler_delays_no_write_to_a_table_with_the_name_of_its_message() {
    let world = World::new(&names("dead", 1));
    let table = TableName::new("Mail").unwrap();
    block_on(world.outbox.store().create_table(&table)).unwrap();
    let key = EntityKey::new("Sales", "1").unwrap();
    let partition = PartitionKey::new("Sales").unwrap();
    let mut transaction = Transaction::new(partition, world.outbox.store().capabilities().limits).unwrap();
    let intent = Intent::of(RowKey::new("live").unwrap()).step(Step::delete_if_exists(table, key));
    world.outbox.record(&mut transaction, &intent).unwrap();
    block_on(world.outbox.submit(&world.table, transaction)).unwrap();
    let worker = world.worker(WorkerOptions { concurrency: 1, ..WorkerOptions::default() });
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!((worker.metrics().done, worker.metrics().outages), (1, 1), "{:?}", worker.metrics());
}
