//! Tests feeds: the order of entries, the number of requests, and the effects of faults.

mod contended;
mod leases;
mod quiet;
mod requests;
mod superseded;
mod writers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::{Clock, Engine, EngineOptions};
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{ErrorCode, ValueRef};

use crate::feed::head::HEAD;
use crate::feed::write::name;
use crate::feed::{Cursor, FEED_PREFIX, Feed, FeedChange, FeedEntry};
use crate::tests::faults::{Call, Fault, FaultyStore, sendable};
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

    /// Returns the feed handle of another process, whose clock is `ahead` ticks ahead of the store's clock.
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
        block_on(sendable(feed.read(&self.table, &self.sales, from, limit))).unwrap()
    }

    /// Reads once from a cursor, and moves the cursor as a follower does. Returns the numbers of untrimmed entries that were skipped.
    fn skipped_by_follower(
        &self,
        feed: &Feed<Store>,
        cursor: &mut Cursor,
        limit: usize,
        trimmed: usize,
    ) -> Vec<usize> {
        let (before, place) = (cursor.number(), (&self.table, &self.sales));
        let Some((head, _)) = block_on(feed.head(place.0, place.1)).unwrap() else { return Vec::new() };
        let (entries, reached) = block_on(sendable(feed.entries(place, &head, cursor, limit))).unwrap();
        *cursor = reached;
        skipped(before, &entries, cursor, trimmed)
    }

    /// Reads once from a cursor, and moves the cursor. Returns the numbers of untrimmed entries that were skipped.
    fn skipped_by_read(
        &self,
        feed: &Feed<Store>,
        cursor: &mut Cursor,
        limit: usize,
        trimmed: usize,
    ) -> Vec<usize> {
        let (before, entries) = (cursor.number(), self.read(feed, cursor, limit));
        if let Some(last) = entries.last() {
            *cursor = last.cursor.clone();
        }
        skipped(before, &entries, cursor, trimmed)
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

/// Returns the numbers between two positions whose entries were neither read nor trimmed. Panics if `entries` is not sorted.
fn skipped(before: u64, entries: &[FeedEntry], after: &Cursor, trimmed: usize) -> Vec<usize> {
    let seen = numbers(entries);
    assert!(seen.is_sorted_by(|one, other| one < other), "{seen:?}");
    let place = |number: u64| usize::try_from(number).unwrap();
    let passed = place(before)..place(after.number());
    assert!(seen.iter().all(|number| passed.contains(number)), "{seen:?} of {passed:?}");
    passed.filter(|number| *number >= trimmed && seen.binary_search(number).is_err()).collect()
}

#[test]
fn egt_2_a_transaction_has_room_for_97_entities_and_their_entries() {
    for count in [80, 97, 98] {
        let world = World::new(100);
        let (feed, mut transaction) = (world.feed(0), world.transaction());
        let keys: Vec<_> = (0..count).map(|number| RowKey::new(format!("e{number:02}")).unwrap()).collect();
        for row_key in keys.iter().cloned() {
            let kind = OperationKind::Insert(RowWriter::new().finish());
            transaction.push(Operation { row_key, kind }).unwrap();
        }
        let change = |source| FeedChange { source, kind: "set", payload: b"" };
        let changes: Vec<_> = keys.iter().map(change).collect();
        let outcome = block_on(feed.submit(&world.table, transaction, &changes));
        let refused = outcome.err().map(|error| error.rule());
        assert_eq!(refused, (count > 97).then_some(Some("EGT-2")), "{count} entities");
    }
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
    // The handle still remembers the head of the old table.
    for number in 20..25 {
        world.write(&feed, &[number]);
    }
    assert_eq!(numbers(&world.read(&feed, &cursor, 100)), (20..25).collect::<Vec<_>>());
}

#[test]
fn pat_ec_8_a_trim_of_a_recreated_table_deletes_no_entry_of_its_new_feed() {
    for (at, new) in (0..8).flat_map(|at| [3, 150].map(|new| (at, new))) {
        let world = World::new(1_000);
        let feed = world.feed(0);
        (0..130).for_each(|number| world.write(&feed, &[number]));
        let cursor = block_on(feed.end(&world.table, &world.sales)).unwrap();
        let (engine, table, sales) = (world.store.inner().clone(), world.table.clone(), world.sales.clone());
        let mut recreate = Some(move || {
            block_on(engine.delete_table(&table)).unwrap();
            block_on(engine.create_table(&table)).unwrap();
            let feed = Feed::new(engine.clone());
            for number in 0..new {
                let source = RowKey::new(number.to_string()).unwrap();
                let change = FeedChange { source: &source, kind: "set", payload: b"" };
                let transaction = Transaction::new(sales.clone(), engine.capabilities().limits).unwrap();
                block_on(feed.submit(&table, transaction, &[change])).unwrap();
            }
        });
        world.store.script(move |_, number| match recreate.take_if(|_| number == at) {
            Some(recreate) => Fault::Meanwhile(Box::new(recreate)),
            None => Fault::None,
        });
        // If the table has been recreated since the first page of a query, the store may refuse the second page.
        let _ = block_on(feed.trim(&world.table, &world.sales, &cursor));
        assert!(world.calls().len() > at);
        let entries = world.read(&world.feed(0), &Cursor::default(), 1_000);
        assert_eq!(numbers(&entries), (0..new).collect::<Vec<_>>(), "request {at}");
    }
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
    // If the head counts entries that do not exist, a read still ends.
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
    assert!(world.read(&feed, &Cursor::default(), 10).is_empty());
    let place = (&world.table, &world.sales);
    let (head, _) = block_on(feed.head(place.0, place.1)).unwrap().unwrap();
    let (entries, reached) = block_on(feed.entries(place, &head, &Cursor::default(), 10)).unwrap();
    assert!(entries.is_empty());
    assert_eq!(reached.number(), u64::try_from(i64::MAX).unwrap());
}

/// The expected list of skipped entries: none.
const NONE: [usize; 0] = [];

/// Generates numbers for a head. Another program that can write to the partition may store any of them.
fn number_of_head() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 0..50_i64, 1 => Just(i64::MAX), 1 => any::<i64>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Tests heads and rows of entries with arbitrary numbers.
    #[test]
    fn pat_ec_8_a_reader_reaches_the_end_of_a_feed_that_a_foreign_writer_has_changed(
        (id, last, floor) in (number_of_head(), number_of_head(), number_of_head()),
        rows in proptest::collection::btree_map(0..60_u64, 0..5_usize, 0..20),
        limit in 1..5_usize,
    ) {
        let world = World::new(1_000);
        let feed = world.feed(0);
        let mut head = RowWriter::new();
        for (name, value) in [("Id", id), ("Last", last), ("Floor", floor)] {
            head.property(name, ValueRef::Int64(value));
        }
        head.property("Quiet", ValueRef::Boolean(false));
        let mut transaction = world.transaction();
        let kind = OperationKind::Insert(head.finish());
        transaction.push(Operation { row_key: RowKey::new(HEAD).unwrap(), kind }).unwrap();
        for (number, changes) in rows {
            let mut row = RowWriter::new();
            for at in 0..changes {
                row.property(&name("Source", at), ValueRef::String("x"));
                row.property(&name("Kind", at), ValueRef::String("set"));
            }
            let row_key = RowKey::new(format!("{FEED_PREFIX}{number:020}")).unwrap();
            transaction.push(Operation { row_key, kind: OperationKind::Insert(row.finish()) }).unwrap();
        }
        block_on(world.store.submit(&world.table, transaction)).unwrap();
        let (place, mut cursor, mut steps) = ((&world.table, &world.sales), Cursor::default(), 0);
        match block_on(feed.head(place.0, place.1)) {
            Err(error) => {
                prop_assert_eq!(error.code(), ErrorCode::Corrupted);
                prop_assert!(id < 0 || last < 0 || floor < 0 || floor > last);
            }
            Ok(head) => {
                let (head, _) = head.unwrap();
                while cursor != head.end() {
                    (_, cursor) = block_on(feed.entries(place, &head, &cursor, limit)).unwrap();
                    steps += 1;
                    prop_assert!(steps < 300, "at {:?} of {:?}", cursor, head);
                }
            }
        }
    }

    /// Tests random sequences of writes by processes with different clocks, of reads, and of trims at any position.
    #[test]
    fn pat_ec_8_batches_together_are_the_whole_feed_in_order_except_for_trimmed_entries(
        acts in proptest::collection::vec(
            (0..3_usize, -3..3_i64, prop_oneof![1..4_usize, 20..90_usize], prop::bool::weighted(0.4), trim()),
            1..40,
        ),
        limit in prop_oneof![1..7_usize, 20..50_usize],
    ) {
        let world = World::new(3);
        let writers: Vec<_> = [-2, 0, 5].iter().map(|days: &i64| world.feed(days * DAY.cast_signed())).collect();
        let feed = world.feed(0);
        let (mut follower, mut cursor) = (Cursor::default(), Cursor::default());
        let (mut written, mut trimmed) = (0, 0);
        for (writer, days, changes, reads, trim) in acts {
            let some: Vec<_> = (written..written + changes).collect();
            written += changes;
            world.write(&writers[writer], &some);
            // The store's clock jumps forward and back.
            let now = world.time.load(Ordering::SeqCst);
            world.time.store(now.saturating_add_signed(days * DAY.cast_signed()), Ordering::SeqCst);
            if reads {
                prop_assert_eq!(world.skipped_by_follower(&feed, &mut follower, limit, trimmed), NONE);
                prop_assert_eq!(world.skipped_by_read(&feed, &mut cursor, limit, trimmed), NONE);
            }
            if let Some(ahead) = trim {
                let number = (follower.number() + ahead).min(u64::try_from(written).unwrap());
                let end = block_on(feed.end(&world.table, &world.sales)).unwrap();
                block_on(feed.trim(&world.table, &world.sales, &Cursor { number, ..end })).unwrap();
                trimmed = trimmed.max(usize::try_from(number).unwrap());
            }
        }
        let end = block_on(feed.end(&world.table, &world.sales)).unwrap();
        for _ in 0..=written {
            prop_assert_eq!(world.skipped_by_follower(&feed, &mut follower, limit, trimmed), NONE);
            if follower == end {
                break;
            }
        }
        prop_assert_eq!(&follower, &end);
        while !world.read(&feed, &cursor, limit).is_empty() {
            prop_assert_eq!(world.skipped_by_read(&feed, &mut cursor, limit, trimmed), NONE);
        }
        prop_assert!(cursor == end || trimmed == written);
    }
}

/// Generates trims: the number of changes to trim beyond the position of a reader, or `None` for no trim.
fn trim() -> impl Strategy<Value = Option<u64>> {
    prop::option::weighted(0.3, 0..150_u64)
}
