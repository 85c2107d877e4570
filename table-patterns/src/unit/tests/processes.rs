//! Transactions of several processes on one partition: each handle stands for a process, and time is virtual.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::error::ErrorCode;
use table_core::key::PartitionKey;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::{Entity, EntityKey, TableName};

use super::timeline::{Distant, Timeline};
use crate::EntityStore;
use crate::entities::{Entities, SeenRows};
use crate::faults::{Call, Fault, FaultyStore};
use crate::sequence::GaplessSequence;
use crate::unit::reservation::{LOSSES, PREFIX, Queue};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Counters")]
#[partition_key(tenant)]
#[row_key("counter")]
struct Counter {
    tenant: String,
    value: i64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Counters")]
#[partition_key(tenant)]
#[row_key("entry_", number)]
struct Entry {
    tenant: String,
    #[digits(6)]
    number: u32,
}

type Counters = Entities<Counter, Distant<Engine>>;

/// The processes of a run: the latency of the store and the number of tasks of each.
struct Run {
    timeline: Timeline,
    engine: Engine,
    seed: u64,
}

impl Run {
    fn new(seed: u64) -> Self {
        let engine = Engine::in_memory();
        block_on(async {
            let counters = engine.entities::<Counter>().create_if_missing().await?;
            counters.insert(&Counter { tenant: "t".into(), value: 0 }).await
        })
        .unwrap();
        Self { timeline: Timeline::default(), engine, seed }
    }

    /// Returns the handle of a new process.
    fn process(&self, number: u64, latency: Duration) -> Counters {
        let runtime = self.timeline.runtime(self.seed * 100 + number);
        let (inner, timeline) = (self.engine.clone(), self.timeline.clone());
        let store = Distant { inner, timeline, latency, runtime: runtime.clone() };
        store.entities::<Counter>().with_runtime(runtime)
    }

    /// Returns the number of reservations of the partition.
    fn reservations(&self) -> usize {
        let query = Query::new(KeyRange::rows("t", TextRange::prefix(PREFIX)));
        block_on(self.engine.query(&TableName::new("Counters").unwrap(), &query, None)).unwrap().rows.len()
    }

    /// Reserves the partition, as by a process that then ended.
    fn reserve(&self) {
        let table = TableName::new("Counters").unwrap();
        let partition_key = PartitionKey::new("t").unwrap();
        let seen = SeenRows::default();
        let queue = Queue { store: &self.engine, table: &table, partition_key: &partition_key, seen: &seen };
        let row_key = EntityKey::new("t", "counter").unwrap().row_key;
        let reserved = queue.reserve(None, Duration::from_millis(700), vec![row_key], || 7);
        assert!(block_on(reserved).unwrap().is_some());
    }

    /// Checks that numbers have no gaps and that no increment was lost.
    fn check(&self, posts: usize) {
        let entries = self.engine.entities::<Entry>();
        let entries = block_on(entries.query(Entry::rows("t")).collect()).unwrap();
        assert!(entries.iter().map(|entry| entry.number).eq(1..=u32::try_from(posts).unwrap()));
        let counter = block_on(self.engine.entities::<Counter>().get(Counter::key("t"))).unwrap().unwrap();
        assert_eq!(usize::try_from(counter.value).unwrap(), posts);
    }
}

/// The bound of the attempts of a transaction, as in the model of the protocol.
const BOUND: usize = 8;

fn entry(number: u32) -> Entry {
    Entry { tenant: "t".into(), number }
}

/// Increments the counter and inserts an entry with the next number. Returns the number of attempts.
async fn post<S: TableStore + Clone + 'static>(counters: &Entities<Counter, S>) -> usize {
    let attempts = AtomicUsize::new(0);
    let numbers = GaplessSequence::new(counters, "entry").unwrap();
    let posted = counters.transaction(Counter::partition("t"), async |unit| {
        attempts.fetch_add(1, Ordering::Relaxed);
        let counter = unit.get(Counter::key("t")).await?.expect("inserted");
        unit.update(&counter, |counter| counter.value += 1)?;
        let number: u32 = numbers.next_in(unit).await?;
        unit.insert(&entry(number))?;
        Ok::<_, table_core::Error>(())
    });
    posted.await.unwrap();
    attempts.into_inner()
}

/// Posts some times in one process, while others post in an endless loop. Returns the largest number of attempts of each.
fn contest(run: &Run, slow: &Counters, times: usize, others: &[Counters]) -> (usize, usize) {
    let (is_over, posts) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (most, most_of_others) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (is_over, posts, most, most_of_others) = (&is_over, &posts, &most, &most_of_others);
    let mut tasks: Vec<LocalBoxFuture<'_, ()>> = vec![Box::pin(async move {
        for _ in 0..times {
            most.fetch_max(post(slow).await, Ordering::Relaxed);
            posts.fetch_add(1, Ordering::Relaxed);
        }
        is_over.store(true, Ordering::Relaxed);
    })];
    // The others never pause.
    for counters in others.iter().flat_map(|process| [process; 4]) {
        tasks.push(Box::pin(async move {
            while !is_over.load(Ordering::Relaxed) {
                most_of_others.fetch_max(post(counters).await, Ordering::Relaxed);
                posts.fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    run.timeline.run(tasks);
    run.check(posts.load(Ordering::Relaxed));
    assert_eq!(run.reservations(), 0, "each commit deletes its reservation");
    (most.load(Ordering::Relaxed), most_of_others.load(Ordering::Relaxed))
}

#[test]
fn a_distant_process_is_not_starved_by_near_ones() {
    for (seed, latency) in [(0, 10), (1, 40), (2, 40), (3, 100), (4, 100)] {
        let run = Run::new(seed);
        let slow = run.process(0, Duration::from_millis(latency));
        let near: Vec<_> = (1..=3).map(|number| run.process(number, Duration::from_millis(1))).collect();
        let (most, most_of_near) = contest(&run, &slow, 3, &near);
        assert!(most <= BOUND, "seed {seed}: {most} attempts of the process at {latency} ms");
        assert!(most_of_near <= BOUND, "seed {seed}: {most_of_near} attempts of a near process");
    }
}

#[test]
fn equal_processes_share_a_partition_with_few_attempts() {
    for seed in 0..6 {
        let run = Run::new(seed);
        let processes: Vec<_> = (0..6).map(|number| run.process(number, Duration::from_millis(5))).collect();
        let most = AtomicUsize::new(0);
        let tasks =
            processes.iter().flat_map(|process| [process; 4]).map(|counters| -> LocalBoxFuture<'_, ()> {
                let most = &most;
                Box::pin(async move {
                    for _ in 0..10 {
                        most.fetch_max(post(counters).await, Ordering::Relaxed);
                    }
                })
            });
        run.timeline.run(tasks.collect());
        let most = most.load(Ordering::Relaxed);
        assert!(most <= BOUND, "seed {seed}: {most} attempts");
        run.check(240);
        assert_eq!(run.reservations(), 0);
    }
}

#[test]
fn the_own_error_of_a_transaction_is_found_while_others_write() {
    for seed in 0..4 {
        let run = Run::new(seed);
        let (slow, near) =
            (run.process(0, Duration::from_millis(40)), run.process(1, Duration::from_millis(1)));
        block_on(run.engine.entities::<Entry>().insert(&entry(999_999))).unwrap();
        let (is_over, attempts) = (AtomicBool::new(false), AtomicUsize::new(0));
        let refused: LocalBoxFuture<'_, ()> = Box::pin(async {
            let posted = slow.transaction(Counter::partition("t"), async |unit| {
                attempts.fetch_add(1, Ordering::Relaxed);
                unit.get(Counter::key("t")).await?;
                unit.insert(&entry(999_999)).map(drop)
            });
            let error = posted.await.unwrap_err();
            is_over.store(true, Ordering::Relaxed);
            assert!(error.is_already_exists(), "{error}");
        });
        let others: LocalBoxFuture<'_, ()> = Box::pin(async {
            while !is_over.load(Ordering::Relaxed) {
                post(&near).await;
            }
        });
        run.timeline.run(vec![refused, others]);
        assert!(attempts.load(Ordering::Relaxed) <= BOUND, "{attempts:?}");
        assert_eq!(run.reservations(), 0, "an error releases the partition");
    }
}

#[test]
fn the_reservation_of_a_process_that_ended_delays_the_others_once() {
    let run = Run::new(4);
    let processes = [1, 2].map(|number| run.process(number, Duration::from_millis(5)));
    let tasks = || {
        let task = |counters| -> LocalBoxFuture<'_, ()> {
            Box::pin(async move {
                for _ in 0..5 {
                    assert!(post(counters).await <= BOUND);
                }
            })
        };
        processes.iter().map(task).collect::<Vec<_>>()
    };
    run.timeline.run(tasks());
    let before = run.timeline.now();
    run.reserve();
    run.timeline.run(tasks());
    run.check(20);
    assert_eq!(run.reservations(), 0);
    let delay = run.timeline.now() - before;
    assert!(delay >= Duration::from_millis(700), "the hold is respected: {delay:?}");
    assert!(delay <= Duration::from_millis(700) + 2 * before, "once: {delay:?}, without it {before:?}");
}

/// A process of an older release commits without regard to reservations: nothing is lost, and the bound of the attempts does not hold.
#[test]
fn a_process_that_ignores_reservations_breaks_no_transaction() {
    for seed in 0..4 {
        let run = Run::new(seed);
        let slow = run.process(0, Duration::from_millis(20));
        let older = run.process(1, Duration::from_millis(1));
        let (is_over, increments) = (AtomicBool::new(false), AtomicUsize::new(0));
        let (is_over, increments) = (&is_over, &increments);
        let posts: LocalBoxFuture<'_, ()> = Box::pin(async {
            for _ in 0..3 {
                post(&slow).await;
            }
            is_over.store(true, Ordering::Relaxed);
        });
        // An update of one entity does not look for reservations.
        let others: LocalBoxFuture<'_, ()> = Box::pin(async {
            while !is_over.load(Ordering::Relaxed) {
                older.update(Counter::key("t"), |counter| counter.value += 1).await.unwrap();
                increments.fetch_add(1, Ordering::Relaxed);
                run.timeline.sleep(Duration::from_millis(150)).await;
            }
        });
        run.timeline.run(vec![posts, others]);
        let counter = block_on(run.engine.entities::<Counter>().get(Counter::key("t"))).unwrap().unwrap();
        assert_eq!(usize::try_from(counter.value).unwrap(), 3 + increments.load(Ordering::Relaxed));
        assert_eq!(run.reservations(), 0);
    }
}

#[test]
fn transactions_without_contention_send_no_request_for_reservations() {
    let store = FaultyStore::new(Engine::in_memory());
    let counters = block_on(store.entities::<Counter>().create_if_missing()).unwrap();
    block_on(counters.insert(&Counter { tenant: "t".into(), value: 0 })).unwrap();
    store.heal();
    for _ in 0..5 {
        assert_eq!(block_on(post(&counters)), 1);
    }
    // The row of the counter and the row of the sequence, then the commit.
    assert_eq!(store.calls(), [Call::Get, Call::Get, Call::Submit].repeat(5));

    // Another process writes in between: one more read, together with the others from the next transaction on.
    let other = store.entities::<Counter>();
    block_on(post(&other));
    store.heal();
    block_on(post(&counters));
    assert_eq!(store.calls(), [Call::Get, Call::Query, Call::Get, Call::Submit]);
    store.heal();
    block_on(post(&counters));
    block_on(post(&counters));
    assert_eq!(store.calls().iter().filter(|call| **call == Call::Query).count(), 1, "{:?}", store.calls());
}

#[test]
fn a_credential_that_does_not_cover_reservations_commits_without_them() {
    let store = FaultyStore::new(Engine::in_memory());
    let counters = block_on(store.entities::<Counter>().create_if_missing()).unwrap();
    block_on(counters.insert(&Counter { tenant: "t".into(), value: 0 })).unwrap();
    let other = store.inner().entities::<Counter>();
    let writer = other.clone();
    store.script(move |call, number| match call {
        Call::Query => Fault::Before(ErrorCode::AuthorizationPermissionMismatch),
        Call::Submit if number < 20 => {
            let other = other.clone();
            Fault::Meanwhile(Box::new(move || assert!(block_on(post(&other)) > 0)))
        }
        _ => Fault::None,
    });
    assert!(block_on(post(&counters)) > LOSSES);
    // The error of the last attempt names the reason.
    let few = counters.clone().with_retry(Retry::new(2, Duration::ZERO, Duration::ZERO));
    let posted = few.transaction(Counter::partition("t"), async |unit| {
        let counter = unit.get(Counter::key("t")).await?.expect("inserted");
        block_on(post(&writer));
        unit.update(&counter, |counter| counter.value += 1).map(drop)
    });
    let error = block_on(posted).unwrap_err();
    assert_eq!((error.rule(), error.message().contains("no reservation")), (Some("CON-3"), true), "{error}");
    let queries = || store.calls().iter().filter(|call| **call == Call::Query).count();
    assert_eq!(queries(), 1, "it is not tried again");
    block_on(post(&counters));
    assert_eq!(queries(), 1);
}

#[test]
fn a_full_transaction_deletes_its_reservation_after_the_commit() {
    let run = Run::new(5);
    let (slow, near) = (run.process(0, Duration::from_millis(40)), run.process(1, Duration::from_millis(1)));
    let most = slow.table().store().capabilities().limits.operations;
    let (is_over, attempts) = (AtomicBool::new(false), AtomicUsize::new(0));
    let full: LocalBoxFuture<'_, ()> = Box::pin(async {
        let filled = slow.transaction(Counter::partition("t"), async |unit| {
            attempts.fetch_add(1, Ordering::Relaxed);
            let counter = unit.get(Counter::key("t")).await?.expect("inserted");
            unit.update(&counter, |counter| counter.value += 1)?;
            for number in 1..most {
                unit.insert(&entry(900_000 + u32::try_from(number).unwrap()))?;
            }
            Ok::<_, table_core::Error>(())
        });
        filled.await.unwrap();
        is_over.store(true, Ordering::Relaxed);
    });
    let others: LocalBoxFuture<'_, ()> = Box::pin(async {
        while !is_over.load(Ordering::Relaxed) {
            post(&near).await;
        }
    });
    run.timeline.run(vec![full, others]);
    assert!((LOSSES + 1..=BOUND).contains(&attempts.load(Ordering::Relaxed)), "{attempts:?}");
    assert_eq!(run.reservations(), 0);
}
