//! Tests that writes are retried during splits, merges and throttling, and that pages neither skip nor repeat rows.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use azure_core::http::StatusCode;
use azure_data_cosmos_driver::fault_injection::FaultOperationType;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::query::{KeyRange, Query, TextRange};
use table_core::row::RowWriter;
use table_core::runtime::Backoff;
use table_core::store::WriteLease;
use table_core::{
    Clock, ErrorCode, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction,
};
use table_cosmos::Options;
use table_cosmos::emulator::Emulator;
use table_hierarchy::{Component, Epk};

use crate::doubts::rule;
use crate::recorded::custom;
use crate::runtime;

fn insert(store: &impl TableStore, partition: &str, row: &str) -> Transaction {
    let limits = store.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new(partition).unwrap(), limits).unwrap();
    let kind = OperationKind::Insert(RowWriter::new().finish());
    transaction.push(Operation { row_key: RowKey::new(row).unwrap(), kind }).unwrap();
    transaction
}

fn of_tenant() -> Query {
    let keys = KeyRange { partition_key: TextRange::prefix("t!"), row_key: TextRange::ALL };
    Query { top: Some(7), ..Query::new(keys) }
}

/// Returns the effective partition key of one of the tenant's users.
fn place(user: &str) -> Epk {
    Epk::of(&[Component::text("t"), Component::text(user.to_owned())])
}

#[test]
fn map_12_and_hpk_24_writes_and_reads_wait_for_a_split_and_lose_nothing() {
    runtime().block_on(async {
        let emulator = Emulator::new(false).unwrap();
        let table = TableName::new("Events").unwrap();
        emulator.create(&table, 2, 1, None).unwrap();
        // The attempts would last for hours, so they are not exhausted even on a slow machine.
        let patient = Backoff { initial: Duration::from_millis(5), max: Duration::from_millis(50) };
        let store = emulator
            .open(Options::new().levels("Events", 2).retry_during_splits(100_000, patient))
            .await
            .unwrap();
        for user in 0..100 {
            store.submit(&table, insert(&store, &format!("t!u{user:03}!"), "r")).await.unwrap();
        }
        emulator.split(&table, 0, &place("u050"), Duration::from_millis(700)).unwrap();
        let mut writes = Vec::new();
        for user in 100..120 {
            let (store, table) = (store.clone(), table.clone());
            writes.push(tokio::spawn(async move {
                store.submit(&table, insert(&store, &format!("t!u{user:03}!"), "r")).await
            }));
        }
        let mut seen = Vec::new();
        let mut from = None;
        loop {
            let page = store.query(&table, &of_tenant(), from.as_ref()).await.unwrap();
            seen.extend(page.rows.iter().map(|entity| entity.partition_key.to_owned()));
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
        for write in writes {
            write.await.unwrap().unwrap();
        }
        emulator.settled().await;
        assert_eq!(store.partitions(&table).await.unwrap().partitions().len(), 2);
        let distinct: BTreeSet<&String> = seen.iter().collect();
        assert_eq!(distinct.len(), seen.len(), "a row twice");
        assert!((0..100).all(|user| distinct.contains(&format!("t!u{user:03}!"))), "a row lost");
    });
}

#[test]
fn map_13_pages_continue_across_a_split_and_a_merge() {
    runtime().block_on(async {
        let emulator = Emulator::new(false).unwrap();
        let table = TableName::new("Events").unwrap();
        emulator.create(&table, 2, 1, None).unwrap();
        let store = emulator.open(Options::new().levels("Events", 2)).await.unwrap();
        for user in 0..100 {
            store.submit(&table, insert(&store, &format!("t!u{user:03}!"), "r")).await.unwrap();
        }
        let (mut seen, mut from, mut turn) = (Vec::new(), None, 0);
        loop {
            let page = store.query(&table, &of_tenant(), from.as_ref()).await.unwrap();
            seen.extend(page.rows.iter().map(|entity| entity.partition_key.to_owned()));
            from = page.continuation;
            match turn {
                2 => emulator.split(&table, 0, &place("u050"), Duration::ZERO).unwrap(),
                5 => emulator.merge(&table, 1, 2, Duration::ZERO),
                _ => {}
            }
            emulator.settled().await;
            turn += 1;
            if from.is_none() {
                break;
            }
        }
        let distinct: BTreeSet<&String> = seen.iter().collect();
        assert_eq!((distinct.len(), seen.len()), (100, 100));
        assert_eq!(store.partitions(&table).await.unwrap().partitions().len(), 1);
    });
}

/// Tests that queries for a tenant and for all rows continue correctly if partitions are split and merged at random between pages of random sizes.
#[test]
fn map_13_and_page_1_pages_continue_across_random_splits_and_merges() {
    runtime().block_on(async {
        for seed in 0..6 {
            let random = &mut StdRng::seed_from_u64(seed);
            let emulator = Emulator::new(false).unwrap();
            let table = TableName::new("Events").unwrap();
            emulator.create(&table, 2, 2, None).unwrap();
            let store = emulator.open(Options::new().levels("Events", 2)).await.unwrap();
            let watch = emulator.open(Options::new().levels("Events", 2)).await.unwrap();
            for user in 0..60 {
                store.submit(&table, insert(&store, &format!("t!u{user:03}!"), "r")).await.unwrap();
            }
            let all = Query::new(KeyRange::ALL);
            let query = Query {
                top: Some(random.random_range(1..9)),
                ..[of_tenant(), all][(seed % 2) as usize].clone()
            };
            let (mut seen, mut from) = (Vec::new(), None);
            loop {
                let page = store.query(&table, &query, from.as_ref()).await.unwrap();
                seen.extend(page.rows.iter().map(|entity| entity.partition_key.to_owned()));
                from = page.continuation;
                if from.is_none() {
                    break;
                }
                let map = watch.partitions(&table).await.unwrap();
                let at = random.random_range(0..map.partitions().len());
                match (random.random_range(0..3), &map.partitions()[at..]) {
                    (0, [left, right, ..]) => emulator.merge(&table, left.id, right.id, Duration::ZERO),
                    (1, _) => {
                        let at = place(&format!("u{:03}", random.random_range(0..60)));
                        if map.partitions().iter().all(|partition| *partition.range.end() != at) {
                            emulator.split(&table, map.locate(&at).id, &at, Duration::ZERO).unwrap();
                        }
                    }
                    _ => {}
                }
                emulator.settled().await;
            }
            let distinct: BTreeSet<&String> = seen.iter().collect();
            assert_eq!((distinct.len(), seen.len()), (60, 60), "seed {seed}: {query:?}");
        }
    });
}

/// Tests the responses for a moving partition, and for a gateway with a stale container cache. The container was not replaced, so the next page exists, and the
/// error must not claim that the table was recreated.
#[test]
fn map_12_and_page_9_a_later_page_that_stays_gone_is_busy_and_continues_afterwards() {
    runtime().block_on(async {
        let prefix = KeyRange { partition_key: TextRange::prefix("t!"), row_key: TextRange::ALL };
        for (keys, sub) in [KeyRange::partition("t!u!"), prefix]
            .iter()
            .flat_map(|keys| [1000, 1002, 1007].map(|sub| (keys, sub)))
        {
            let emulator = Emulator::new(false).unwrap();
            let table = TableName::new("Events").unwrap();
            emulator.create(&table, 2, 4, None).unwrap();
            let gone = custom(StatusCode::Gone, sub, r#"{"code":"Gone","message":"gone"}"#);
            let rule = rule(FaultOperationType::QueryItem, gone, u32::MAX);
            let short = Backoff { initial: Duration::from_millis(1), max: Duration::from_millis(1) };
            let options = Options::new().levels("Events", 2).retry_during_splits(2, short);
            let store = emulator.open_with_faults(options, vec![rule.clone()]).await.unwrap();
            for row in 0..3 {
                store.submit(&table, insert(&store, "t!u!", &format!("r{row}"))).await.unwrap();
            }
            let query = Query { top: Some(1), ..Query::new(keys.clone()) };
            let first = store.query(&table, &query, None).await.unwrap();
            rule.enable();
            let from = first.continuation;
            let error =
                store.query(&table, &query, from.as_ref()).await.map(|page| page.rows.len()).unwrap_err();
            assert_eq!(
                (error.code(), error.rule()),
                (ErrorCode::ServerBusy, None),
                "{sub}, {keys:?}: {error}"
            );
            rule.disable();
            let second = store.query(&table, &query, from.as_ref()).await.unwrap();
            assert_eq!((first.rows.len(), second.rows.len()), (1, 1), "{sub}, {keys:?}");
        }
    });
}

#[test]
fn map_12_a_split_that_outlasts_the_attempts_is_reported_as_such() {
    runtime().block_on(async {
        let emulator = Emulator::new(false).unwrap();
        let table = TableName::new("Events").unwrap();
        emulator.create(&table, 2, 1, None).unwrap();
        let short = Backoff { initial: Duration::from_millis(1), max: Duration::from_millis(1) };
        let store =
            emulator.open(Options::new().levels("Events", 2).retry_during_splits(2, short)).await.unwrap();
        store.submit(&table, insert(&store, "t!u!", "r")).await.unwrap();
        emulator.split(&table, 0, &place("u"), Duration::from_secs(60 * 60)).unwrap();
        let error = store.submit(&table, insert(&store, "t!u!", "s")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ServerBusy, "{error}");
        assert!(!error.is_ambiguous() && error.to_string().contains("split or moved"), "{error}");
    });
}

/// Tests a lease measured by a clock that advances each time it is read.
#[test]
fn evo_3_a_write_that_waits_for_a_split_is_not_sent_after_the_end_of_its_lease() {
    runtime().block_on(async {
        let emulator = Emulator::new(false).unwrap();
        let table = TableName::new("Events").unwrap();
        emulator.create(&table, 2, 1, None).unwrap();
        let short = Backoff { initial: Duration::from_millis(1), max: Duration::from_millis(1) };
        let store =
            emulator.open(Options::new().levels("Events", 2).retry_during_splits(200, short)).await.unwrap();
        let lease = || {
            let readings = AtomicU64::new(0);
            let elapsed = move || Duration::from_secs(readings.fetch_add(1, Ordering::Relaxed));
            WriteLease::new(&Clock::new(|| 0).with_elapsed(elapsed), Duration::from_secs(5))
        };
        store.submit(&table, insert(&store, "t!u!", "r").with_lease(lease())).await.unwrap();
        emulator.split(&table, 0, &place("u"), Duration::from_secs(60 * 60)).unwrap();
        let write = insert(&store, "t!u!", "s").with_lease(lease());
        let error = store.submit(&table, write).await.unwrap_err();
        assert!(WriteLease::has_ended(&error), "{error}");
    });
}

#[test]
fn hpk_12_and_rty_1_throttled_writes_are_retried_by_the_client() {
    [None, Some(Duration::from_millis(300)), Some(Duration::from_secs(5))].into_iter().for_each(throttled);
}

/// Sends many writes at once, each under a lease of the given length.
fn throttled(length: Option<Duration>) {
    runtime().block_on(async {
        let emulator = Emulator::new(true).unwrap();
        let table = TableName::new("Events").unwrap();
        emulator.create(&table, 1, 1, Some(400)).unwrap();
        let store = emulator.open(Options::new()).await.unwrap();
        let mut writes = Vec::new();
        for row in 0..120 {
            let (store, table) = (store.clone(), table.clone());
            writes.push(tokio::spawn(async move {
                let write = insert(&store, "p", &format!("r{row:03}"));
                let lease = length.map(|length| WriteLease::new(&Clock::default(), length));
                store.submit(&table, lease.into_iter().fold(write, Transaction::with_lease)).await
            }));
        }
        let mut refused = 0;
        for write in writes {
            match write.await.unwrap() {
                Ok(_) => {}
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::ServerBusy, "{error}");
                    assert!(!error.is_ambiguous());
                    refused += 1;
                }
            }
        }
        println!("{refused} of 120 writes were refused in the end");
        let page = store.query(&table, &Query::new(KeyRange::partition("p")), None).await.unwrap();
        assert_eq!(page.rows.len() + refused, 120, "what was refused was not written");
    });
}
