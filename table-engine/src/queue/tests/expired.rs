//! Tests that expired messages are removed from a queue that has no receivers.

use std::ops::ControlFlow;

use table_store::row::RowView;

use super::damaged::rows;
use super::{AtomicU64, Duration, Engine, PutMessage, QueueStore, TimeToLive, block_on, clocked, pass, work};
use crate::Durability;
use crate::decision::Ground;
use crate::key::{Span, SplitKey};
use crate::queue::decisions::EXPIRED;
use crate::queue::table_of;

fn put(engine: &Engine, life: TimeToLive) {
    block_on(engine.put(&work(), PutMessage::new("x").time_to_live(life))).unwrap();
}

fn short() -> TimeToLive {
    TimeToLive::For(Duration::from_secs(1))
}

fn stored_rows(engine: &Engine) -> usize {
    let state = engine.inner.state().unwrap();
    let table = engine.table_id(&state, &table_of(&work())).unwrap();
    let mut rows = 0;
    let visit = |_: SplitKey<'_>, row: Option<RowView<'_>>| {
        rows += usize::from(row.is_some());
        Ok(ControlFlow::Continue(()))
    };
    state.scan(&Span::table(table), visit).unwrap();
    rows
}

/// Puts ten messages per second into a queue. Each of them expires after a second. The queue also has `lasting` messages that do not expire.
fn put_only(engine: &Engine, time: &AtomicU64, lasting: usize) {
    block_on(engine.create_queue(&work())).unwrap();
    (0..lasting).for_each(|_| put(engine, TimeToLive::Never));
    for n in 1..3_000 {
        put(engine, short());
        if n % 10 == 0 {
            pass(time, 1);
            let messages = stored_rows(engine) / 2;
            assert!(
                messages <= 50 + 3 * lasting / 2,
                "{engine}: {n} messages, {messages} stored, {lasting} do not expire"
            );
        }
    }
    assert!(block_on(engine.approximate_count(&work())).unwrap() >= lasting as u64);
}

#[test]
fn que_7_a_queue_that_is_only_written_has_a_bounded_number_of_rows() {
    for lasting in [0, 1, 16, 40, 300] {
        let (options, time) = clocked();
        put_only(&options.in_memory(), &time, lasting);
        // In an engine on disk, removed messages leave tombstones. They remain, because no checkpoint runs during this test.
        let folder = tempfile::tempdir().unwrap();
        let (options, time) = clocked();
        let options = options.durability(Durability::Relaxed).checkpoint_bytes(usize::MAX);
        put_only(&options.open(folder.path()).unwrap(), &time, lasting);
    }
}

#[test]
fn que_7_a_program_that_puts_one_message_at_each_opening_leaves_few_expired_messages() {
    let folder = tempfile::tempdir().unwrap();
    let (options, time) = clocked();
    let open = || options.clone().open(folder.path()).unwrap();
    block_on(open().create_queue(&work())).unwrap();
    for _ in 0..40 {
        let engine = open();
        put(&engine, short());
        block_on(engine.close()).unwrap();
        pass(&time, 2);
    }
    let engine = open();
    let count = |ground: &mut Ground<'_>| Ok(rows(ground).len());
    let left = block_on(engine.decide(&work(), "count", count)).unwrap();
    assert!(left <= 4, "{left} rows");
}

/// Peeks repeatedly at a queue whose first message does not expire. Many expired messages follow it.
fn peek_only(engine: &Engine, time: &AtomicU64) {
    block_on(engine.create_queue(&work())).unwrap();
    put(engine, TimeToLive::Never);
    (0..3 * EXPIRED).for_each(|_| put(engine, short()));
    pass(time, 2);
    for _ in 0..3 {
        assert_eq!(block_on(engine.peek(&work(), 32)).unwrap().len(), 1);
    }
    let rows = stored_rows(engine);
    assert!(rows <= 2 + 2 * EXPIRED, "{engine}: {rows} rows");
    for _ in 0..3 {
        put(engine, short());
        pass(time, 2);
        assert_eq!(block_on(engine.peek(&work(), 32)).unwrap().len(), 1);
    }
    put(engine, short());
    let (_, passed) = engine.peek_now(&work(), 32).unwrap();
    assert!(passed <= 64, "{engine}: a peek passes {passed} expired messages and tombstones");
}

#[test]
fn que_7_a_queue_that_is_only_peeked_loses_its_expired_messages() {
    let (options, time) = clocked();
    peek_only(&options.in_memory(), &time);
    let folder = tempfile::tempdir().unwrap();
    let (options, time) = clocked();
    let options = options.durability(Durability::Relaxed).checkpoint_bytes(usize::MAX);
    peek_only(&options.open(folder.path()).unwrap(), &time);
}
