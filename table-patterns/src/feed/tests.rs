//! What reading costs, and that portions are the whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::{Clock, Engine, EngineOptions};
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::store::TableStore;
use table_core::transaction::Transaction;

use crate::faults::{Call, FaultyStore, sendable};
use crate::feed::{Cursor, Feed, FeedChange};
use crate::work::Pace;

const MINUTE: u64 = 600_000_000;

/// A partition with a feed, and a clock that tests move.
struct World {
    time: Arc<AtomicU64>,
    store: FaultyStore<Engine>,
    table: TableName,
    sales: PartitionKey,
}

impl World {
    fn new(page: usize) -> Self {
        let time = Arc::new(AtomicU64::new(639_307_584_000_000_000));
        let now = Arc::clone(&time);
        let engine = EngineOptions::new().clock(Clock::new(move || now.load(Ordering::SeqCst))).in_memory();
        let store = FaultyStore::new(engine).pages_of(page);
        let table = TableName::new("Company").unwrap();
        block_on(store.create_table(&table)).unwrap();
        Self { time, store, table, sales: PartitionKey::new("Sales").unwrap() }
    }

    /// The feed of a process whose clock is behind by so much, less ten minutes: half of them are ahead.
    fn feed(&self, behind: u64) -> Feed<FaultyStore<Engine>> {
        let now = Arc::clone(&self.time);
        let clock = Clock::new(move || now.load(Ordering::SeqCst) + 5 * MINUTE - behind);
        Feed::with_pace(self.store.clone(), Pace::new().clock(clock))
    }

    fn write(&self, number: usize, behind: u64) {
        let mut transaction = Transaction::new(self.sales.clone(), self.store.capabilities().limits).unwrap();
        let source = RowKey::new(number.to_string()).unwrap();
        let change = FeedChange { source: &source, kind: "set", payload: b"" };
        self.feed(behind).record(&mut transaction, change).unwrap();
        block_on(self.store.submit(&self.table, transaction)).unwrap();
    }

    fn queries(&self) -> usize {
        self.store.calls().iter().filter(|call| **call == Call::Query).count()
    }
}

#[test]
fn pat_ec_8_a_feed_in_portions_is_read_once_and_not_once_a_portion() {
    let world = World::new(50);
    for number in 0..500 {
        world.write(number, 5 * MINUTE);
    }
    world.store.heal();
    let feed = world.feed(5 * MINUTE);
    let mut reader = feed.reader(world.table.clone(), world.sales.clone(), Cursor::default());
    let mut seen = 0;
    loop {
        let some = block_on(sendable(reader.next(10))).unwrap();
        if some.is_empty() {
            break;
        }
        seen += some.len();
        assert_eq!(*reader.cursor(), some.last().unwrap().cursor);
    }
    // All of it twice (two pages are not a snapshot), and twice more to see that there is nothing behind.
    assert_eq!((seen, world.queries()), (500, 40), "rows of the last ten minutes");
}

#[test]
fn pat_ec_8_an_old_feed_is_read_only_as_far_as_it_is_asked_for() {
    let world = World::new(50);
    for number in 0..500 {
        world.write(number, 5 * MINUTE);
        world.time.fetch_add(MINUTE, Ordering::SeqCst);
    }
    let feed = world.feed(5 * MINUTE);
    let (mut cursor, mut seen) = (Cursor::default(), Vec::new());
    loop {
        world.store.heal();
        let some = block_on(feed.read(&world.table, &world.sales, &cursor, 20)).unwrap();
        let Some(last) = some.last() else { break };
        cursor = last.cursor.clone();
        seen.extend(some.iter().map(|entry| entry.source.as_str().parse::<usize>().unwrap()));
        assert!(world.queries() <= 4, "{} queries of 50 rows for 20 entries", world.queries());
    }
    assert_eq!(seen, (0..500).collect::<Vec<_>>());
}

proptest! {
    /// Writers whose clocks differ by up to ten minutes, beside readers that ask for some now and then.
    #[test]
    fn pat_ec_8_portions_are_the_whole_in_order(
        acts in proptest::collection::vec((0..10_u64, 0..3_u64, any::<bool>()), 1..80),
        limit in 1..7_usize,
    ) {
        let world = World::new(3);
        let feed = world.feed(5 * MINUTE);
        let mut reader = feed.reader(world.table.clone(), world.sales.clone(), Cursor::default());
        let (mut cursor, mut whole, mut read) = (Cursor::default(), Vec::new(), Vec::new());
        let number = |entries: Vec<crate::feed::FeedEntry>| -> Vec<usize> {
            entries.iter().map(|entry| entry.source.as_str().parse().unwrap()).collect()
        };
        let count = acts.len();
        for (at, (behind, minutes, reads)) in acts.into_iter().enumerate() {
            world.write(at, behind * MINUTE);
            world.time.fetch_add(minutes * 7 * MINUTE, Ordering::SeqCst);
            if reads {
                whole.extend(number(block_on(reader.next(limit)).unwrap()));
                let some = block_on(feed.read(&world.table, &world.sales, &cursor, limit)).unwrap();
                cursor = some.last().map_or(cursor, |last| last.cursor.clone());
                read.extend(number(some));
            }
        }
        loop {
            let some = block_on(reader.next(limit)).unwrap();
            let more = block_on(feed.read(&world.table, &world.sales, &cursor, limit)).unwrap();
            if some.is_empty() && more.is_empty() {
                break;
            }
            cursor = more.last().map_or(cursor, |last| last.cursor.clone());
            whole.extend(number(some));
            read.extend(number(more));
        }
        prop_assert_eq!(&whole, &(0..count).collect::<Vec<_>>());
        prop_assert_eq!(read, whole);
    }
}
