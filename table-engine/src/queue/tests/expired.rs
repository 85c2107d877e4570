//! Tests that expired messages are removed from a queue from which nothing is received.

use super::damaged::rows;
use super::{Duration, Engine, PutMessage, QueueStore, TimeToLive, block_on, clocked, pass, work};
use crate::decision::Ground;
use crate::queue::decisions::EXPIRED;

fn put(engine: &Engine, life: TimeToLive) {
    block_on(engine.put(&work(), PutMessage::new("x").time_to_live(life))).unwrap();
}

fn short() -> TimeToLive {
    TimeToLive::For(Duration::from_secs(1))
}

fn stored_rows(engine: &Engine) -> usize {
    engine.inner.state().unwrap().memtable.len()
}

#[test]
fn que_7_a_queue_that_is_only_written_has_a_bounded_number_of_rows() {
    for lasting in [0, 1, 16, 40, 300] {
        let (options, time) = clocked();
        let engine = options.in_memory();
        block_on(engine.create_queue(&work())).unwrap();
        (0..lasting).for_each(|_| put(&engine, TimeToLive::Never));
        for n in 1..3_000 {
            put(&engine, short());
            if n % 10 == 0 {
                pass(&time, 1);
            }
            let messages = stored_rows(&engine) / 2;
            assert!(
                messages <= 50 + 3 * lasting / 2,
                "{n} messages, {messages} stored, {lasting} do not expire"
            );
        }
        assert!(block_on(engine.approximate_count(&work())).unwrap() >= lasting as u64);
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

#[test]
fn que_7_a_queue_that_is_only_peeked_loses_its_expired_messages() {
    let (options, time) = clocked();
    let engine = options.in_memory();
    block_on(engine.create_queue(&work())).unwrap();
    put(&engine, TimeToLive::Never);
    (0..3 * EXPIRED).for_each(|_| put(&engine, short()));
    pass(&time, 2);
    for _ in 0..3 {
        assert_eq!(block_on(engine.peek(&work(), 32)).unwrap().len(), 1);
    }
    assert!(stored_rows(&engine) <= 2 + 2 * EXPIRED, "{} rows", stored_rows(&engine));
}
