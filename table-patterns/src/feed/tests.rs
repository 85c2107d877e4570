//! Tests of the order, cost and robustness of feeds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::{Clock, Engine, EngineOptions};
use table_core::error::ErrorCode;
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::value::ValueRef;

use crate::faults::{Call, Fault, FaultyStore, sendable};
use crate::feed::head::HEAD;
use crate::feed::{Cursor, FEED_PREFIX, Feed, FeedChange, FeedEntry};
use crate::work::Runtime;

const DAY: u64 = 864_000_000_000;

type Store = FaultyStore<Engine>;

/// A partition with a feed, in a store whose clock the test controls.
struct World {
    time: Arc<AtomicU64>,
    store: Store,
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

    /// Returns the feed handle of another process, whose clock differs.
    fn feed(&self, ahead: i64) -> Feed<Store> {
        let now = Arc::clone(&self.time);
        let clock = Clock::new(move || now.load(Ordering::SeqCst).saturating_add_signed(ahead));
        Feed::with_runtime(self.store.clone(), Runtime::new().clock(clock).sleep_by(|_| Box::pin(async {})))
    }

    fn transaction(&self) -> Transaction {
        Transaction::new(self.sales.clone(), self.store.capabilities().limits).unwrap()
    }

    fn write(&self, feed: &Feed<Store>, numbers: &[usize]) {
        let sources: Vec<_> = numbers.iter().map(|number| RowKey::new(number.to_string()).unwrap()).collect();
        let change = |source| FeedChange { source, kind: "set", payload: b"" };
        let changes: Vec<_> = sources.iter().map(change).collect();
        block_on(sendable(feed.submit(&self.table, self.transaction(), &changes))).unwrap();
    }

    fn read(&self, feed: &Feed<Store>, from: &Cursor, limit: usize) -> Vec<FeedEntry> {
        block_on(feed.read(&self.table, &self.sales, from, limit)).unwrap()
    }

    fn calls(&self) -> Vec<Call> {
        let calls = self.store.calls();
        self.store.heal();
        calls
    }

    fn rows(&self, select: Select) -> usize {
        let range = KeyRange::rows("Sales", TextRange::prefix(FEED_PREFIX));
        let query = Query { select, ..Query::new(range) };
        block_on(self.store.inner().query(&self.table, &query, None)).unwrap().rows.len()
    }
}

fn numbers(entries: &[FeedEntry]) -> Vec<usize> {
    entries.iter().map(|entry| entry.source.as_str().parse().unwrap()).collect()
}

#[test]
fn pat_ec_8_reading_costs_only_new_rows_and_an_idle_poll_one_request() {
    let world = World::new(50);
    let feed = world.feed(0);
    for number in 0..500 {
        world.write(&feed, &[number]);
    }
    world.store.heal();
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
    let calls = world.calls();
    let queries = calls.iter().filter(|call| **call == Call::Query).count();
    assert_eq!((seen, queries, calls.len()), (500, 50, 52), "a query for ten entries, the head at both ends");
    assert!(block_on(reader.next(10)).unwrap().is_empty());
    assert_eq!(world.calls(), [Call::Get]);
}

/// Rows of a bulk load have many changes each; rows of single writes have one change.
#[test]
fn pat_ec_8_a_young_feed_is_read_about_once_per_row_in_any_batch_size() {
    for (changes, writes) in [(1, 600), (80, 40), (7, 200)] {
        let world = World::new(usize::MAX);
        let feed = world.feed(0);
        for _ in 0..writes {
            world.write(&feed, &vec![0; changes]);
        }
        for portion in [10, 100, 1_000] {
            let (mut rows, mut seen) = (0, 0);
            let mut reader = feed.reader(world.table.clone(), world.sales.clone(), Cursor::default());
            loop {
                world.store.heal();
                let some = block_on(reader.next(portion)).unwrap();
                rows += world.store.rows_read();
                if some.is_empty() {
                    break;
                }
                seen += some.len();
            }
            assert_eq!(seen, changes * writes);
            assert!(
                10 * rows <= 12 * seen,
                "{rows} rows for {seen} entries of {changes} a row, {portion} at a time"
            );
        }
    }
}

#[test]
fn pat_ec_8_a_write_costs_one_request_once_the_head_is_known() {
    let world = World::new(50);
    let feed = world.feed(0);
    world.write(&feed, &[0]);
    assert_eq!(
        world.calls(),
        [
            [Call::Create, Call::Get, Call::Submit].as_slice(),
            &[Call::Submit, Call::Create, Call::Submit, Call::Submit],
        ]
        .concat(),
        "the test's table, the head; the registry and its table, the change"
    );
    world.write(&feed, &[1]);
    assert_eq!(world.calls(), [Call::Submit]);
    // Another process.
    world.write(&world.feed(0), &[2]);
    assert_eq!(world.calls(), [Call::Get, Call::Submit]);
    world.write(&feed, &[3]);
    assert_eq!(world.calls(), [Call::Submit, Call::Get, Call::Submit], "the remembered head is an old one");
}

#[test]
fn pat_ec_8_trimming_costs_only_the_trimmed_rows() {
    let world = World::new(1_000);
    let feed = world.feed(0);
    for number in 0..300 {
        world.write(&feed, &[number]);
    }
    let first = world.read(&feed, &Cursor::default(), 10);
    world.store.heal();
    assert_eq!(block_on(feed.trim(&world.table, &world.sales, &first[9].cursor)).unwrap(), 10);
    assert_eq!(world.calls(), [Call::Get, Call::Submit, Call::Query, Call::Submit]);
    assert_eq!(world.rows(Select::All), 291, "290 entries and the head");
    assert_eq!(
        numbers(&world.read(&feed, &Cursor::default(), 3)),
        [10, 11, 12],
        "a reader that was before the floor"
    );
    // A repeated trim, with a cursor before the floor.
    assert_eq!(block_on(feed.trim(&world.table, &world.sales, &first[4].cursor)).unwrap(), 0);
}

#[test]
fn pat_ec_8_an_interrupted_trim_is_completed_by_the_next() {
    let world = World::new(1_000);
    let feed = world.feed(0);
    for number in 0..20 {
        world.write(&feed, &[number]);
    }
    let all = world.read(&feed, &Cursor::default(), 20);
    for number in 0..4 {
        world.store.fail_at(number);
        let _ = block_on(feed.trim(&world.table, &world.sales, &all[9].cursor));
        world.store.heal();
        assert_eq!(numbers(&world.read(&feed, &all[9].cursor, 100)), (10..20).collect::<Vec<_>>());
    }
    block_on(feed.trim(&world.table, &world.sales, &all[9].cursor)).unwrap();
    assert_eq!(world.rows(Select::All), 11);
}

#[test]
fn pat_ec_8_many_changes_of_a_transaction_share_a_row() {
    let world = World::new(7);
    let feed = world.feed(0);
    world.write(&feed, &(0..97).collect::<Vec<_>>());
    world.write(&feed, &[97]);
    assert_eq!(world.rows(Select::All), 4, "80 and 17 changes, one change, the head");
    let (mut cursor, mut seen) = (Cursor::default(), Vec::new());
    loop {
        let some = world.read(&feed, &cursor, 10);
        let Some(last) = some.last() else { break };
        cursor = last.cursor.clone();
        seen.extend(numbers(&some));
    }
    assert_eq!(seen, (0..98).collect::<Vec<_>>());
    // A floor within a row keeps the row.
    let some = world.read(&feed, &Cursor::default(), 90);
    assert_eq!(block_on(feed.trim(&world.table, &world.sales, &some[89].cursor)).unwrap(), 90);
    assert_eq!(numbers(&world.read(&feed, &Cursor::default(), 100)), (90..98).collect::<Vec<_>>());
}

#[test]
fn pat_ec_8_a_writer_delayed_before_its_commit_gets_the_next_number() {
    let world = World::new(1_000);
    let (sleeper, others) = (world.feed(0), world.feed(0));
    world.write(&sleeper, &[0]);
    let (store, table, sales) = (world.store.inner().clone(), world.table.clone(), world.sales.clone());
    let time = Arc::clone(&world.time);
    let mut acts = Some(());
    // While the request is in flight, other processes write, read and trim everything, and a day passes.
    world.store.script(move |_, _| match acts.take() {
        Some(()) => {
            let (store, table, sales, time) =
                (store.clone(), table.clone(), sales.clone(), Arc::clone(&time));
            Fault::Meanwhile(Box::new(move || {
                let feed = Feed::new(store.clone());
                let source = RowKey::new("1").unwrap();
                for _ in 0..5 {
                    let transaction = Transaction::new(sales.clone(), store.capabilities().limits).unwrap();
                    let change = [FeedChange { source: &source, kind: "set", payload: b"" }];
                    block_on(feed.submit(&table, transaction, &change)).unwrap();
                }
                let end = block_on(feed.end(&table, &sales)).unwrap();
                block_on(feed.trim(&table, &sales, &end)).unwrap();
                time.fetch_add(DAY, Ordering::SeqCst);
            }))
        }
        None => Fault::None,
    });
    let end = Cursor { number: 6, ..block_on(others.end(&world.table, &world.sales)).unwrap() };
    world.store.calls();
    world.write(&sleeper, &[7]);
    let late = world.read(&others, &end, 100);
    assert_eq!((numbers(&late), late[0].cursor.number()), (vec![7], 7));
}

#[test]
fn pat_ec_8_a_writer_that_is_no_longer_polled_blocks_no_other() {
    let world = World::new(1_000);
    let feed = world.feed(0);
    world.write(&feed, &[0]);
    let source = RowKey::new("1").unwrap();
    let change = [FeedChange { source: &source, kind: "set", payload: b"" }];
    // The turn is taken, and its owner is never polled again.
    let turn = block_on(feed.turns.next(&world.table, &world.sales, &feed.pace));
    block_on(feed.submit(&world.table, world.transaction(), &change)).unwrap();
    world.write(&feed, &[2]);
    drop(turn);
    world.write(&feed, &[3]);
    assert_eq!(numbers(&world.read(&feed, &Cursor::default(), 10)), [0, 1, 2, 3]);
}

#[test]
fn pat_ec_8_writers_sharing_a_handle_never_conflict_and_no_entry_is_lost() {
    let world = World::new(1_000);
    let shared = world.feed(0);
    world.write(&shared, &[0]);
    let threads = |own: bool| {
        world.store.heal();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let feed = if own { Feed::new(world.store.clone()) } else { shared.clone() };
                let world = &world;
                scope.spawn(move || (0..25).for_each(|number| world.write(&feed, &[number])));
            }
        });
        world.calls().len()
    };
    let feed = Feed::with_runtime(world.store.clone(), Runtime::new());
    let before = world.read(&feed, &Cursor::default(), 10_000).len();
    threads(true);
    assert_eq!(world.read(&feed, &Cursor::default(), 10_000).len(), before + 100);
    threads(false);
    let entries = world.read(&feed, &Cursor::default(), 10_000);
    let found: Vec<_> = entries.iter().map(|entry| entry.cursor.number()).collect();
    assert_eq!(found, (1..=u64::try_from(before).unwrap() + 200).collect::<Vec<_>>(), "without a gap");
}

#[test]
fn pat_ec_8_a_cursor_of_a_recreated_table_reads_the_new_feed_from_the_start() {
    let world = World::new(1_000);
    let feed = world.feed(0);
    for number in 0..9 {
        world.write(&feed, &[number]);
    }
    let cursor = block_on(feed.end(&world.table, &world.sales)).unwrap();
    block_on(world.store.delete_table(&world.table)).unwrap();
    block_on(world.store.create_table(&world.table)).unwrap();
    assert!(world.read(&feed, &cursor, 100).is_empty());
    // The handle remembers the head of the old table.
    for number in 20..25 {
        world.write(&feed, &[number]);
    }
    assert_eq!(numbers(&world.read(&feed, &cursor, 100)), (20..25).collect::<Vec<_>>());
}

#[test]
fn pat_ec_8_foreign_rows_under_the_prefix_are_skipped_and_overwritten() {
    let world = World::new(1_000);
    let feed = world.feed(0);
    world.write(&feed, &[0]);
    let names = [
        "",
        "0639307584000000000_00",
        "00000000000000000002",
        "00000000000000000007",
        "99999999999999999999",
        "x",
    ];
    for name in names {
        let mut row = RowWriter::new();
        row.property("X", ValueRef::Int32(1));
        let mut transaction = world.transaction();
        let row_key = RowKey::new(format!("{FEED_PREFIX}{name}")).unwrap();
        transaction.push(Operation { row_key, kind: OperationKind::Insert(row.finish()) }).unwrap();
        block_on(world.store.submit(&world.table, transaction)).unwrap();
    }
    for number in 1..10 {
        world.write(&feed, &[number]);
    }
    assert_eq!(numbers(&world.read(&feed, &Cursor::default(), 100)), (0..10).collect::<Vec<_>>());
    let all = block_on(feed.end(&world.table, &world.sales)).unwrap();
    block_on(feed.trim(&world.table, &world.sales, &all)).unwrap();
    assert_eq!(world.rows(Select::All), 5, "the head, and four rows that are not of the feed");
}

#[test]
fn pat_ec_8_a_head_that_cannot_be_read_is_named() {
    let world = World::new(1_000);
    let feed = world.feed(0);
    let mut transaction = world.transaction();
    let kind = OperationKind::Insert(RowWriter::new().finish());
    transaction.push(Operation { row_key: RowKey::new(HEAD).unwrap(), kind }).unwrap();
    block_on(world.store.submit(&world.table, transaction)).unwrap();
    let error = block_on(feed.read(&world.table, &world.sales, &Cursor::default(), 1)).unwrap_err();
    assert_eq!((error.code(), error.key()), (ErrorCode::Corrupted, Some(("Sales", HEAD))));
    // If the head counts missing entries, the read ends.
    let key = EntityKey { partition_key: world.sales.clone(), row_key: RowKey::new(HEAD).unwrap() };
    let mut row = RowWriter::new();
    for (name, value) in [("Id", 7), ("Last", i64::MAX), ("Floor", 0)] {
        row.property(name, ValueRef::Int64(value));
    }
    row.property("Quiet", ValueRef::Boolean(false));
    let mut transaction = world.transaction();
    let kind = OperationKind::Replace(row.finish(), IfMatch::Any);
    transaction.push(Operation { row_key: key.row_key, kind }).unwrap();
    block_on(world.store.submit(&world.table, transaction)).unwrap();
    let mut reader = feed.reader(world.table.clone(), world.sales.clone(), Cursor::default());
    assert!(block_on(reader.next(10)).unwrap().is_empty());
    assert_eq!(reader.cursor().number(), u64::try_from(i64::MAX).unwrap());
}

#[test]
fn pat_ec_8_a_quiet_feed_is_marked_and_unmarked_before_the_next_commit() {
    let world = World::new(1_000);
    let (writer, follower) = (world.feed(0), world.feed(0));
    world.write(&writer, &[0]);
    let listed = || block_on(follower.listed(&world.table)).unwrap().pop().unwrap();
    let head = || block_on(follower.head(&world.table, &world.sales)).unwrap().unwrap();
    let end = head().0.end();
    let mark = |listed, head| block_on(follower.mark_quiet(&world.table, &listed, head)).unwrap();
    mark(listed(), head());
    assert!(listed().is_read_at(&end));
    world.write(&writer, &[1]);
    assert!(!listed().is_read_at(&end));
    // A follower that is suspended between any two of its requests marks only quiet feeds.
    let (early_list, early_head) = (listed(), head());
    world.write(&writer, &[2]);
    mark(early_list.clone(), early_head);
    assert!(!listed().is_read_at(&head().0.end()), "the head has changed");
    mark(listed(), head());
    let marked = (listed(), head());
    world.write(&writer, &[3]);
    mark(marked.0, head());
    assert!(!listed().is_read_at(&head().0.end()), "the registry has changed");
}

#[test]
fn a_feed_that_is_kept_listed_is_never_marked() {
    let world = World::new(1_000);
    let (writer, follower) = (world.feed(0), world.feed(0));
    // Before its first entry, and after it is marked.
    for number in 0..2 {
        block_on(follower.keep_listed(&world.table, &world.sales)).unwrap();
        world.write(&writer, &[number]);
        let listed = block_on(follower.listed(&world.table)).unwrap().pop().unwrap();
        let head = block_on(follower.head(&world.table, &world.sales)).unwrap().unwrap();
        let end = head.0.end();
        block_on(follower.mark_quiet(&world.table, &listed, head)).unwrap();
        let listed = block_on(follower.listed(&world.table)).unwrap().pop().unwrap();
        assert!(!listed.is_read_at(&end));
    }
}

proptest! {
    /// Writers with arbitrary clocks, and readers that read occasionally.
    #[test]
    fn pat_ec_8_batches_together_are_the_whole_feed_in_order(
        acts in proptest::collection::vec((0..3_usize, -3..3_i64, 1..4_usize, any::<bool>()), 1..60),
        limit in 1..7_usize,
    ) {
        let world = World::new(3);
        let writers: Vec<_> = [-2, 0, 5].iter().map(|days: &i64| world.feed(days * DAY.cast_signed())).collect();
        let feed = world.feed(0);
        let mut reader = feed.reader(world.table.clone(), world.sales.clone(), Cursor::default());
        let (mut cursor, mut whole, mut read, mut written) = (Cursor::default(), Vec::new(), Vec::new(), 0);
        for (writer, days, changes, reads) in acts {
            let some: Vec<_> = (written..written + changes).collect();
            written += changes;
            world.write(&writers[writer], &some);
            // The store's clock jumps forward and back.
            let now = world.time.load(Ordering::SeqCst);
            world.time.store(now.saturating_add_signed(days * DAY.cast_signed()), Ordering::SeqCst);
            if reads {
                whole.extend(numbers(&block_on(reader.next(limit)).unwrap()));
                let some = world.read(&feed, &cursor, limit);
                cursor = some.last().map_or(cursor, |last| last.cursor.clone());
                read.extend(numbers(&some));
            }
        }
        loop {
            let some = block_on(reader.next(limit)).unwrap();
            let more = world.read(&feed, &cursor, limit);
            if some.is_empty() && more.is_empty() {
                break;
            }
            cursor = more.last().map_or(cursor, |last| last.cursor.clone());
            whole.extend(numbers(&some));
            read.extend(numbers(&more));
        }
        prop_assert_eq!(&whole, &(0..written).collect::<Vec<_>>());
        prop_assert_eq!(read, whole);
    }
}
