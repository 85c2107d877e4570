//! Tests that a change feed returns every change in a partition, in order and from any cursor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pollster::block_on;
use table_core::embedded::{Clock, Engine, EngineOptions, FaultInjection};
use table_core::row::RowWriter;
use table_core::{
    Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction, ValueRef,
};
use table_patterns::feed::{Cursor, Feed, FeedChange};
use table_patterns::work::Runtime;

fn table() -> TableName {
    TableName::new("Employee").unwrap()
}

fn sales() -> PartitionKey {
    PartitionKey::new("Sales").unwrap()
}

/// Sets the only counter in the partition to `n`, and records this change in the feed.
fn write(store: &Engine, feed: &Feed<Engine>, n: i32) {
    let mut writer = RowWriter::new();
    writer.property("N", ValueRef::Int32(n));
    let counter = RowKey::new("counter").unwrap();
    let mut transaction = Transaction::new(sales(), store.capabilities().limits).unwrap();
    let kind = OperationKind::InsertOrReplace(writer.finish());
    transaction.push(Operation { row_key: counter.clone(), kind }).unwrap();
    let payload = n.to_string();
    let change = FeedChange { source: &counter, kind: "set", payload: payload.as_bytes() };
    block_on(feed.submit(&table(), transaction, &[change])).unwrap();
}

fn numbers(feed: &Feed<Engine>, cursor: &mut Cursor, limit: usize) -> Vec<i32> {
    let entries = block_on(feed.read(&table(), &sales(), cursor, limit)).unwrap();
    if let Some(last) = entries.last() {
        *cursor = last.cursor.clone();
    }
    entries.iter().map(|entry| std::str::from_utf8(&entry.payload).unwrap().parse().unwrap()).collect()
}

fn store(faults: FaultInjection) -> Engine {
    let store = EngineOptions::new().faults(faults).in_memory();
    block_on(store.create_table(&table())).unwrap();
    store
}

/// Tests that the feed contains all changes in the order of the transactions, as a read model requires (IMP-6).
#[test]
fn pat_ec_8_changes_arrive_in_transaction_order_with_any_writer_clocks() {
    let store = store(FaultInjection::default());
    let minutes = |minutes: u64| {
        let clock = move || Clock::default().now() - minutes * 600_000_000;
        Feed::with_runtime(store.clone(), Runtime::new().clock(Clock::new(clock)))
    };
    // The clock of each writer is behind the clock of the previous one. If entries were ordered by clock, the RowKeys would be reversed.
    for n in 0..9 {
        write(&store, &minutes(n), i32::try_from(n).unwrap());
    }
    let (feed, mut cursor) = (Feed::new(store.clone()), Cursor::default());
    assert_eq!(numbers(&feed, &mut cursor, 4), [0, 1, 2, 3]);
    let kept = cursor.clone();
    assert_eq!(numbers(&feed, &mut cursor, 100), [4, 5, 6, 7, 8]);
    assert!(numbers(&feed, &mut cursor, 100).is_empty());
    write(&store, &minutes(9), 9);
    assert_eq!(numbers(&feed, &mut cursor, 100), [9]);

    // Entries are delivered at least once. A saved cursor returns the entries after it a second time. Only entries that were read are trimmed.
    assert_eq!(block_on(feed.trim(&table(), &sales(), &kept)).unwrap(), 4);
    let mut again = Cursor::default();
    assert_eq!(numbers(&feed, &mut again, 100), [4, 5, 6, 7, 8, 9]);
}

#[test]
fn pat_ec_8_a_reader_misses_nothing_between_pages_despite_skewed_clocks() {
    // A page has three entries. If entries were ordered by clock, an entry written between two reads could belong to a page that has already been read.
    let faults =
        FaultInjection { page_entities: std::num::NonZeroUsize::new(3), ..FaultInjection::default() };
    let store = store(faults);
    let finished = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 0..300_i32 {
                let minutes = u64::from(n.unsigned_abs()) * 7 % 9;
                let clock = Clock::new(move || Clock::default().now() - minutes * 600_000_000);
                write(&store, &Feed::with_runtime(store.clone(), Runtime::new().clock(clock)), n);
            }
            finished.store(true, Ordering::SeqCst);
        });
        let (feed, mut cursor, mut seen) = (Feed::new(store.clone()), Cursor::default(), Vec::new());
        loop {
            let is_last = finished.load(Ordering::SeqCst);
            let more = numbers(&feed, &mut cursor, 10);
            if more.is_empty() && is_last {
                break;
            }
            seen.extend(more);
        }
        writer.join().unwrap();
        seen
    });
    assert_eq!(seen, (0..300).collect::<Vec<_>>());
}

#[test]
fn a_cursor_can_be_kept_as_text() {
    let store = store(FaultInjection::default());
    let feed = Feed::new(store.clone());
    for n in 0..3 {
        write(&store, &feed, n);
    }
    let mut cursor = Cursor::default();
    numbers(&feed, &mut cursor, 2);
    let text = serde_json::to_string(&cursor).unwrap();
    let mut back: Cursor = serde_json::from_str(&text).unwrap();
    assert_eq!(numbers(&feed, &mut back, 10), [2]);
}
