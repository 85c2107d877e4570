//! Tests transactions of several processes on one partition. Each handle represents a process, and time is virtual.

mod edges;
mod feed_head;
mod grouped;
mod own_writes;
mod restart;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::store::TableStore;
use table_core::{Entity, TableName};

use super::timeline::{Distant, Timeline};
use crate::EntityStore;
use crate::entities::Entities;
use crate::sequence::GaplessSequence;
use crate::unit::reservation::PREFIX;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Counters")]
#[partition_key(tenant)]
#[row_key("counter")]
pub(super) struct Counter {
    pub(super) tenant: String,
    pub(super) value: i64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Counters")]
#[partition_key(tenant)]
#[row_key("entry_", number)]
pub(super) struct Entry {
    pub(super) tenant: String,
    #[digits(6)]
    pub(super) number: u32,
}

pub(super) type Counters = Entities<Counter, Distant<Engine>>;

/// A test run: the engine shared by all processes, and the seed of the virtual timeline.
pub(super) struct Run {
    pub(super) timeline: Timeline,
    pub(super) engine: Engine,
    seed: u64,
}

impl Run {
    pub(super) fn new(seed: u64) -> Self {
        let engine = Engine::in_memory();
        block_on(async {
            let counters = engine.entities::<Counter>().create_if_missing().await?;
            counters.insert(&Counter { tenant: "t".into(), value: 0 }).await
        })
        .unwrap();
        Self { timeline: Timeline::default(), engine, seed }
    }

    /// Returns a handle that represents a new process.
    pub(super) fn process(&self, number: u64, latency: Duration) -> Counters {
        self.handle(number, latency)
    }

    /// Returns a handle to entities of any type, which represents a new process.
    fn handle<E: Entity + Send + Sync>(
        &self,
        number: u64,
        latency: Duration,
    ) -> Entities<E, Distant<Engine>> {
        let runtime = self.timeline.runtime(self.seed * 100 + number);
        let (inner, timeline) = (self.engine.clone(), self.timeline.clone());
        let store = Distant { inner, timeline, latency, runtime: runtime.clone(), sent: Arc::default() };
        store.entities::<E>().with_runtime(runtime)
    }

    /// Returns the number of reservations in the partition.
    fn reservations(&self) -> usize {
        let query = Query::new(KeyRange::rows("t", TextRange::prefix(PREFIX)));
        block_on(self.engine.query(&TableName::new("Counters").unwrap(), &query, None)).unwrap().rows.len()
    }

    /// Checks that the numbers have no gaps and that no increment has been lost.
    pub(super) fn check(&self, posts: usize) {
        let entries = self.engine.entities::<Entry>();
        let entries = block_on(entries.query(Entry::rows("t")).collect()).unwrap();
        assert!(entries.iter().map(|entry| entry.number).eq(1..=u32::try_from(posts).unwrap()));
        let counter = block_on(self.engine.entities::<Counter>().get(Counter::key("t"))).unwrap().unwrap();
        assert_eq!(usize::try_from(counter.value).unwrap(), posts);
    }
}

/// The maximum number of attempts per transaction, as in the model of the protocol.
const BOUND: usize = 8;

pub(super) fn entry(number: u32) -> Entry {
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

/// Posts a few times in one process while other processes post in an endless loop. Returns the largest number of attempts per transaction in this process, and
/// the largest in the others.
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
    // The other processes never pause.
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
