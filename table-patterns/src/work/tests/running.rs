//! Tests workers whose steps take longer than the lease.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{BoxFuture, join, select};

use super::*;

mod timers;

const SECOND: u64 = 10_000_000;
const HOUR: u64 = 3_600 * SECOND;

/// A clock that advances only while a test runs. Requests and sleeps take time on this clock.
#[derive(Clone)]
struct Time(Arc<AtomicU64>);

impl Time {
    fn now(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Waits until the time has passed.
    async fn pass(self, ticks: u64) {
        let end = self.now() + ticks;
        let is_over = move |context: &mut std::task::Context<'_>| {
            if self.now() >= end {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        };
        poll_fn(is_over).await;
    }

    /// Advances by a second whenever all other futures of the task have been polled.
    fn run(self) -> impl Future<Output = ()> {
        poll_fn(move |context| {
            self.0.fetch_add(SECOND, Ordering::SeqCst);
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }
}

/// A handler whose target responds after `length`, which is 40 seconds by default. While `is_down` is `true`, requests to the target time out.
#[derive(Clone)]
struct Slow {
    time: Time,
    length: u64,
    is_down: Arc<AtomicBool>,
    is_stuck: bool,
}

impl Handler<Mail> for Slow {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        if self.is_stuck {
            pending::<()>().await;
        }
        self.time.clone().pass(self.length).await;
        if self.is_down.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorCode::OperationTimedOut, "no answer"));
        }
        Ok(())
    }
}

struct World {
    outbox: Outbox<Engine, Engine>,
    table: TableName,
    slow: Slow,
}

/// The end of a sleep.
type Sleep = BoxFuture<'static, ()>;

impl World {
    fn new() -> Self {
        Self::with_sleeps(|_, sleep| sleep)
    }

    /// Creates a world in which `change` may replace each sleep that starts. It receives the length of the sleep.
    fn with_sleeps(change: impl Fn(Duration, Sleep) -> Sleep + Send + Sync + 'static) -> Self {
        let (plain, engine, time) = outbox();
        let (table, time) = (TableName::new("Company").unwrap(), Time(time));
        block_on(engine.create_table(&table)).unwrap();
        let (clock, sleeps) = (time.clone(), time.clone());
        let sleep = move |duration| {
            let ticks = table_core::runtime::ticks_of(duration);
            change(duration, Box::pin(sleeps.clone().pass(ticks)))
        };
        let pace = Runtime::new().clock(Clock::new(move || clock.now())).sleep_by(sleep);
        let outbox = Outbox::with_runtime(engine.clone(), engine, plain.queue().clone(), pace);
        let slow = Slow { time, length: 40 * SECOND, is_down: Arc::default(), is_stuck: false };
        Self { outbox, table, slow }
    }

    /// Runs two workers on four slow rows. Asserts that no worker loses a lease, and that each row is processed once.
    fn assert_no_lease_is_lost(&self, name: &str) {
        for partition in ["p1", "p2", "p3", "p4"] {
            record(&self.outbox, &self.table, partition);
        }
        let options = WorkerOptions { messages_per_receive: 1, ..WorkerOptions::default() };
        let worker = || Worker::with_options(self.outbox.clone(), options).handler(self.slow.clone());
        let (one, two) = (worker(), worker());
        self.run([&one, &two], HOUR);
        let sum = |count: fn(work::WorkMetrics) -> u64| count(one.metrics()) + count(two.metrics());
        let all = (sum(|of| of.lost), sum(|of| of.poisoned), sum(|of| of.done));
        assert_eq!(all, (0, 0, 4), "{name}: {:?} {:?}", one.metrics(), two.metrics());
    }

    /// Runs two workers concurrently for about the given time.
    fn run(&self, workers: [&Worker<Engine, Engine>; 2], ticks: u64) {
        let end = self.slow.time.now() + ticks;
        let is_over = || self.slow.time.now() >= end;
        let [one, two] = workers;
        let work = pin!(join(one.run(is_over), two.run(is_over)));
        block_on(select(work, pin!(self.slow.time.clone().run())));
    }
}

#[test]
fn pat_ec_5_an_outage_in_which_requests_time_out_makes_no_poison() {
    let world = World::new();
    for partition in ["p1", "p2", "p3"] {
        record(&world.outbox, &world.table, partition);
    }
    let intent = Intent::of(RowKey::new("1").unwrap()).step(Step::call(&Mail("hello".into())).unwrap());
    block_on(world.outbox.enqueue(&world.table, &PartitionKey::new("x").unwrap(), &intent)).unwrap();
    let options = WorkerOptions { messages_per_receive: 1, ..WorkerOptions::default() };
    let worker = || Worker::with_options(world.outbox.clone(), options).handler(world.slow.clone());
    let (one, two) = (worker(), worker());
    let sum = |count: fn(work::WorkMetrics) -> u64| count(one.metrics()) + count(two.metrics());
    world.slow.is_down.store(true, Ordering::SeqCst);
    world.run([&one, &two], HOUR);
    assert_eq!((sum(|of| of.poisoned), sum(|of| of.done)), (0, 0), "{:?} {:?}", one.metrics(), two.metrics());
    assert!(sum(|of| of.outages) > 0);
    world.slow.is_down.store(false, Ordering::SeqCst);
    world.run([&one, &two], HOUR);
    assert_eq!((sum(|of| of.poisoned), sum(|of| of.done)), (0, 4), "{:?} {:?}", one.metrics(), two.metrics());
    assert_eq!(sum(|of| of.lost), 0, "no worker has lost a lease");
}

#[test]
fn pat_ec_3_a_step_that_never_ends_does_not_hold_its_message_forever() {
    let world = World::new();
    record(&world.outbox, &world.table, "p1");
    let stuck = Slow { is_stuck: true, ..world.slow.clone() };
    let worker = |handler| Worker::new(world.outbox.clone()).handler(handler);
    let (one, two) = (worker(stuck), worker(world.slow.clone()));
    block_on(async {
        let (first, second) = (pin!(one.run(|| false)), two.run(|| two.metrics().done > 0));
        let time = pin!(world.slow.time.clone().run());
        select(
            pin!(async {
                select(
                    first,
                    pin!(async {
                        world.slow.time.clone().pass(10 * SECOND).await;
                        second.await;
                    }),
                )
                .await;
            }),
            time,
        )
        .await;
    });
    assert_eq!((one.metrics().received, two.metrics().done), (1, 1));
}

#[test]
fn pat_ec_3_the_hour_of_a_renewal_begins_with_each_step() {
    let world = World::new();
    // Rows of one entity run one after another.
    (0..10).for_each(|_| record(&world.outbox, &world.table, "p1"));
    let long = Slow { length: HOUR / 6, ..world.slow.clone() };
    let options = WorkerOptions { messages_per_receive: 1, ..WorkerOptions::default() };
    let worker = || Worker::with_options(world.outbox.clone(), options).handler(long.clone());
    let (one, two) = (worker(), worker());
    world.run([&one, &two], 2 * HOUR);
    let sum = |count: fn(work::WorkMetrics) -> u64| count(one.metrics()) + count(two.metrics());
    let all = (sum(|of| of.steps), sum(|of| of.done), sum(|of| of.lost));
    assert_eq!(all, (10, 10, 0), "{:?} {:?}", one.metrics(), two.metrics());
}

/// A handler that completes only after several polls.
struct Polled;

impl Handler<Mail> for Polled {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        let mut polls = 0;
        let is_over = |context: &mut std::task::Context<'_>| {
            polls += 1;
            context.waker().wake_by_ref();
            if polls > 10 { Poll::Ready(()) } else { Poll::Pending }
        };
        poll_fn(is_over).await;
        Ok(())
    }
}

#[test]
fn pat_ec_3_a_sleep_function_without_pending_futures_extends_no_lease_and_delays_no_step() {
    let (plain, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    (0..64).for_each(|_| record(&plain, &table, "Sales"));
    block_on(engine.clear(plain.queue())).unwrap();
    block_on(plain.notify(&table, &PartitionKey::new("Sales").unwrap())).unwrap();
    let begun = time.load(Ordering::SeqCst);
    let (clock, sleeps) = (Arc::clone(&time), Arc::clone(&time));
    // The sleep function advances the clock, as in many simulations.
    let sleep = move |duration| {
        sleeps.fetch_add(table_core::runtime::ticks_of(duration), Ordering::SeqCst);
        Box::pin(async {}) as _
    };
    let pace = Runtime::new().clock(Clock::new(move || clock.load(Ordering::SeqCst))).sleep_by(sleep);
    let store = FaultyStore::new(engine.clone());
    let outbox = Outbox::with_runtime(store.clone(), engine, plain.queue().clone(), pace);
    let worker = Worker::new(outbox).handler(Polled);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(worker.metrics().done, 64);
    let submits = store.calls().into_iter().filter(|call| *call == Call::Submit).count();
    assert_eq!(submits, 2 + 4, "two pages are claimed, and each transaction ends sixteen rows");
    let passed = time.load(Ordering::SeqCst) - begun;
    assert!(passed < SECOND, "a function that blocks the thread delays the step by {passed} ticks");
}
