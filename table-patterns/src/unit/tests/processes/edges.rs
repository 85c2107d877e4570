//! Tests edge cases of reservations: dead owners, older releases, credentials, full transactions and malformed rows. Without contention, reservations must cost
//! nothing.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::PartitionKey;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{Continuation, Page, Query, Select};
use table_core::retry::Retry;
use table_core::row::RowWriter;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::transaction::Transaction;
use table_core::{EntityKey, Error, ErrorCode, Result, TableName, ValueRef};

use super::super::timeline::Distant;
use super::{BOUND, Counter, Run, contest, entry, post};
use crate::EntityStore;
use crate::entities::SeenRows;
use crate::tests::faults::{Call, Fault, FaultyStore};
use crate::unit::queue::Queue;
use crate::unit::reservation::{LOSSES, PREFIX};

/// Reserves the partition as a process does that dies immediately afterwards.
fn reserve(run: &Run) {
    let table = TableName::new("Counters").unwrap();
    let partition_key = PartitionKey::new("t").unwrap();
    let seen = SeenRows::default();
    let queue = Queue { store: &run.engine, table: &table, partition_key: &partition_key, seen: &seen };
    let row_key = EntityKey::new("t", "counter").unwrap().row_key;
    let reserved = queue.reserve(None, Duration::from_millis(700), vec![row_key], || 7);
    assert!(block_on(reserved).unwrap().is_some());
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
    reserve(&run);
    run.timeline.run(tasks());
    run.check(20);
    assert_eq!(run.reservations(), 0);
    let delay = run.timeline.now().saturating_sub(before);
    assert!(delay >= Duration::from_millis(700), "the hold is respected: {delay:?}");
    assert!(delay <= Duration::from_millis(700) + 2 * before, "once: {delay:?}, without it {before:?}");
}

/// Tests a process of an older release, which ignores reservations when it commits. No write is lost, but the number of attempts has no limit.
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
        // An update of a single entity ignores reservations.
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
    // The first transaction reads the stored schema of the sequence. Each transaction reads the row of the counter and the row of the sequence, and then
    // commits.
    let (first, rest) = store.calls().split_first().map(|(first, rest)| (*first, rest.to_vec())).unwrap();
    assert_eq!((first, rest), (Call::Get, [Call::Get, Call::Get, Call::Submit].repeat(5)));

    // Another process writes in the meantime, so this transaction sends one more read. From the next transaction on, that read is sent together with the other
    // reads.
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
    // The error after the last attempt contains the reason.
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
            Ok::<_, Error>(())
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

#[test]
fn rows_that_are_no_reservations_delay_nobody() {
    let run = Run::new(6);
    let table = TableName::new("Counters").unwrap();
    let limits = run.engine.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("t").unwrap(), limits).unwrap();
    let rows = [
        ("", ValueRef::Int64(5_000)),
        ("1", ValueRef::Int64(5_000)),
        ("x_1", ValueRef::Int64(5_000)),
        ("0000000001_y", ValueRef::Int64(5_000)),
        ("99999999999999999999_1", ValueRef::Int64(5_000)),
        ("0000000001_0000000000000001", ValueRef::String("long")),
        ("0000000001_0000000000000002", ValueRef::Int64(-1)),
        ("18446744073709551615_ffffffffffffffff", ValueRef::Int64(0)),
    ];
    for (parts, hold) in rows {
        let mut row = RowWriter::with_capacity(1);
        row.property("HoldMillis", hold);
        let row_key = EntityKey::new("t", format!("{PREFIX}{parts}")).unwrap().row_key;
        transaction.push(Operation { row_key, kind: OperationKind::Insert(row.finish()) }).unwrap();
    }
    block_on(run.engine.submit(&table, transaction)).unwrap();
    let (slow, near) = (run.process(0, Duration::from_millis(40)), run.process(1, Duration::from_millis(1)));
    let before = run.timeline.now();
    let (is_over, most) = (AtomicBool::new(false), AtomicUsize::new(0));
    let posts: LocalBoxFuture<'_, ()> = Box::pin(async {
        for _ in 0..3 {
            most.fetch_max(post(&slow).await, Ordering::Relaxed);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let others: LocalBoxFuture<'_, ()> = Box::pin(async {
        while !is_over.load(Ordering::Relaxed) {
            post(&near).await;
        }
    });
    run.timeline.run(vec![posts, others]);
    assert!(most.load(Ordering::Relaxed) <= BOUND, "{most:?}");
    assert!(run.timeline.now().saturating_sub(before) < Duration::from_secs(5), "{:?}", run.timeline.now());
    assert_eq!(run.reservations(), 0, "they are deleted");
}

/// Writes rows among the reservations, as any program that may write to the partition can. `hold` is the value of the hold time property in each row.
fn write_rows(run: &Run, hold: ValueRef<'_>, rows: impl Iterator<Item = String>) {
    let (table, limits) = (TableName::new("Counters").unwrap(), run.engine.capabilities().limits);
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        let mut transaction = Transaction::new(PartitionKey::new("t").unwrap(), limits).unwrap();
        for parts in rows.by_ref().take(limits.operations) {
            let mut row = RowWriter::with_capacity(1);
            row.property("HoldMillis", hold);
            let row_key = EntityKey::new("t", format!("{PREFIX}{parts}")).unwrap().row_key;
            transaction.push(Operation { row_key, kind: OperationKind::Insert(row.finish()) }).unwrap();
        }
        block_on(run.engine.submit(&table, transaction)).unwrap();
    }
}

/// Returns the part of a row's `RowKey` after the prefix, for the number of the row.
type KeyForm = fn(u64) -> String;

/// Tests that malformed rows among the reservations do not hide the reservations behind them. A distant process then keeps its turn.
#[test]
fn rows_of_another_form_hide_no_reservation() {
    let early = |number: u64| format!("{:010}_{number:016x}", 0);
    let forms: [(ValueRef<'_>, KeyForm); 5] = [
        (ValueRef::Int64(i64::MAX), |number| format!("!{number:06}")),
        (ValueRef::Int64(i64::MIN), early),
        (ValueRef::String("long"), early),
        (ValueRef::Int64(5_000), |number| format!("{:010}_{number:016x}x", 0)),
        (ValueRef::Int64(5_000), |number| format!("{:011}_{number:016x}", 0)),
    ];
    for (seed, (hold, form)) in (10..).zip(forms) {
        let run = Run::new(seed);
        write_rows(&run, hold, (0..1_000).map(form));
        let slow = run.process(0, Duration::from_millis(60));
        let near: Vec<_> = (1..=3).map(|number| run.process(number, Duration::from_millis(1))).collect();
        let (most, most_of_near) = contest(&run, &slow, 3, &near);
        assert!(most <= BOUND, "{}: {most} attempts of the distant process", form(1));
        assert!(most_of_near <= BOUND, "{}: {most_of_near} attempts of a near process", form(1));
    }
}

/// Tests that reservations of another program delay this program only once, however many there are.
#[test]
fn many_reservations_of_a_foreign_writer_delay_the_partition_once() {
    for (dead, garbage) in [(40, 0), (1_000, 0), (300, 1_000), (1, 3_000)] {
        let run = Run::new(7);
        let (slow, near) =
            (run.process(0, Duration::from_millis(40)), run.process(1, Duration::from_millis(1)));
        let held = ValueRef::Int64(i64::MAX);
        write_rows(&run, held, (0..garbage).map(|number| format!("!{number:06}")));
        write_rows(&run, held, (0..dead).map(|number| format!("{:010}_{number:016x}", number / 7)));
        let before = run.timeline.now();
        let tasks = [&slow, &near].map(|process| -> LocalBoxFuture<'_, ()> {
            Box::pin(async move {
                for _ in 0..40 {
                    assert!(post(process).await < 64);
                }
            })
        });
        run.timeline.run(tasks.into());
        run.check(80);
        let delay = run.timeline.now().saturating_sub(before);
        assert!(delay < Duration::from_secs(4 * 5 + 15), "{dead} and {garbage}: {delay:?}");
        assert_eq!(run.reservations(), 0, "{dead} and {garbage}");
    }
}

/// A store whose credential permits writing rows but not deleting them.
#[derive(Clone, Debug)]
struct NoDeletes(Engine);

impl Display for NoDeletes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a store without deletes")
    }
}

impl TableStore for NoDeletes {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.0.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.0.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.0.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.0.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.0.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let is_delete = |operation: &Operation| matches!(operation.kind, OperationKind::Delete(_));
        if transaction.operations().iter().any(is_delete) {
            return Err(Error::new(ErrorCode::AuthorizationPermissionMismatch, "no right to delete"));
        }
        self.0.submit(table, transaction).await
    }
}

#[test]
fn a_credential_without_the_right_to_delete_commits_in_spite_of_lost_attempts() {
    let run = Run::new(8);
    let other = run.engine.entities::<Counter>();
    let writer = NoDeletes(run.engine.clone()).entities::<Counter>();
    let (lost, before) = (AtomicUsize::new(0), run.reservations());
    let posted = writer.transaction(Counter::partition("t"), async |unit| {
        let counter = unit.get(Counter::key("t")).await?.expect("inserted");
        if lost.fetch_add(1, Ordering::Relaxed) <= LOSSES {
            other.update(Counter::key("t"), |counter| counter.value += 1).await?;
        }
        unit.update(&counter, |counter| counter.value += 1).map(drop)
    });
    block_on(posted).unwrap();
    assert!(lost.into_inner() > LOSSES);
    assert_eq!((before, run.reservations()), (0, 1), "the others delete it after its hold");
}

/// Tests a process whose credential does not permit deletions. It cannot reserve the partition, but must still wait for a distant process.
#[test]
fn a_process_without_the_right_to_delete_waits_for_a_distant_one() {
    for seed in 20..23 {
        let run = Run::new(seed);
        let slow = run.process(0, Duration::from_millis(60));
        let runtime = run.timeline.runtime(seed * 100 + 1);
        let (inner, timeline) = (NoDeletes(run.engine.clone()), run.timeline.clone());
        let store = Distant {
            inner,
            timeline,
            latency: Duration::from_millis(1),
            runtime: runtime.clone(),
            sent: Arc::default(),
        };
        let near = store.entities::<Counter>().with_runtime(runtime);
        let (is_over, most, posts) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
        let distant: LocalBoxFuture<'_, ()> = Box::pin(async {
            for _ in 0..6 {
                most.fetch_max(post(&slow).await, Ordering::Relaxed);
                posts.fetch_add(1, Ordering::Relaxed);
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let tasks = (0..4).map(|_| -> LocalBoxFuture<'_, ()> {
            Box::pin(async {
                while !is_over.load(Ordering::Relaxed) {
                    post(&near).await;
                    posts.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        // At first, the store refuses the near process, which tries to reserve the partition.
        let other = run.engine.entities::<Counter>();
        let lost = AtomicUsize::new(0);
        let before = near.transaction(Counter::partition("t"), async |unit| {
            let counter = unit.get(Counter::key("t")).await?.expect("inserted");
            if lost.fetch_add(1, Ordering::Relaxed) <= LOSSES {
                other.update(Counter::key("t"), |counter| counter.value += 1).await?;
            }
            unit.update(&counter, |counter| counter.value += 1).map(drop)
        });
        let first: LocalBoxFuture<'_, ()> = Box::pin(async { drop(before.await.unwrap()) });
        run.timeline.run(vec![first]);
        run.timeline.run(tasks.chain([distant]).collect());
        let most = most.load(Ordering::Relaxed);
        assert!(most <= BOUND, "{most} attempts of the distant process, {posts:?} posts");
    }
}

/// Tests a transaction that loses all its attempts to another process while one of its requests fails. It must leave no reservation, unless the failed request
/// is the one that deletes the reservation.
#[test]
fn a_transaction_with_a_failed_request_leaves_no_reservation() {
    let (mut failed, mut reserved) = (0, 0);
    for number in 0..200 {
        let run = Run::new(5);
        let store = FaultyStore::new(run.engine.clone());
        let runtime = run.timeline.runtime(7);
        let retry = Retry::new(LOSSES + 4, Duration::ZERO, Duration::ZERO).with_runtime(runtime.clone());
        let counters = store.entities::<Counter>().with_runtime(runtime).with_retry(retry);
        let other = run.engine.entities::<Counter>();
        store.script(
            move |_, at| if at == number { Fault::Before(ErrorCode::InternalError) } else { Fault::None },
        );
        let most = AtomicUsize::new(0);
        let transaction: LocalBoxFuture<'_, ()> = Box::pin(async {
            let ended = counters.transaction(Counter::partition("t"), async |unit| {
                let counter = unit.get(Counter::key("t")).await?.expect("inserted");
                unit.update(&counter, |counter| counter.value += 1)?;
                // Another process, which ignores reservations, writes in the meantime.
                other.update(Counter::key("t"), |counter| counter.value += 1).await?;
                most.fetch_max(run.reservations(), Ordering::Relaxed);
                Ok::<_, Error>(())
            });
            ended.await.unwrap_err();
        });
        run.timeline.run(vec![transaction]);
        let calls = store.calls().len();
        if number >= calls {
            assert!(
                failed > 10 && reserved > 5,
                "{failed} requests failed, {reserved} of them after a reservation"
            );
            return;
        }
        failed += 1;
        reserved += most.into_inner();
        assert!(run.reservations() == 0 || number + 1 == calls, "request {number} of {calls}");
    }
    panic!("the transaction does not end");
}
