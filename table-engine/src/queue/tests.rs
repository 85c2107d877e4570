//! Tests the guarantees of the engine's queues. A queue survives a crash, behaves like a simple model, and never delivers a message to two receivers at the
//! same time.

mod damaged;
mod expired;
mod outage;
mod room;
mod rot;
mod stops;

use std::collections::{BTreeMap, HashSet};
use std::iter;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use table_store::ErrorCode;
use table_store::query::{KeyRange, Query};
use table_store::queue::{Lease, PutMessage, QueueName, QueueStore, TimeToLive};
use table_store::store::TableStore;

use crate::{Clock, Engine, EngineOptions};

const SECOND: u64 = 10_000_000;
const BEGIN: u64 = 639_307_584_000_000_000;

fn work() -> QueueName {
    QueueName::new("work").unwrap()
}

/// Returns engine options with a test clock, and the variable that contains the clock's time.
fn clocked() -> (EngineOptions, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(BEGIN));
    let clock = Arc::clone(&time);
    (EngineOptions::new().clock(Clock::new(move || clock.load(Ordering::SeqCst))), time)
}

fn pass(time: &AtomicU64, seconds: u64) {
    time.fetch_add(seconds * SECOND, Ordering::SeqCst);
}

fn texts(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.message.text.as_str()).collect()
}

#[test]
fn que_10_and_11_messages_their_times_and_receipts_survive_a_reopen() {
    let folder = tempfile::tempdir().unwrap();
    let (options, time) = clocked();
    let engine = options.clone().open(folder.path()).unwrap();
    block_on(engine.create_queue(&work())).unwrap();
    for text in ["a", "b", "c"] {
        block_on(engine.put(&work(), PutMessage::new(text))).unwrap();
    }
    let taken = block_on(engine.receive(&work(), 1, Duration::from_secs(30))).unwrap();
    block_on(engine.checkpoint()).unwrap();
    let b = block_on(engine.receive(&work(), 1, Duration::from_secs(60))).unwrap();
    block_on(engine.delete(&work(), &b[0].message.id, &b[0].receipt)).unwrap();
    drop(engine);

    let engine = options.open(folder.path()).unwrap();
    let rest = block_on(engine.receive(&work(), 32, Duration::from_secs(60))).unwrap();
    assert_eq!(texts(&rest), ["c"]);
    pass(&time, 30);
    let again = block_on(engine.receive(&work(), 32, Duration::from_secs(60))).unwrap();
    assert_eq!((texts(&again), again[0].message.dequeue_count), (vec!["a"], 2));
    let error = block_on(engine.delete(&work(), &taken[0].message.id, &taken[0].receipt)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::PopReceiptMismatch);
    block_on(engine.delete(&work(), &again[0].message.id, &again[0].receipt)).unwrap();
    assert_eq!(block_on(engine.approximate_count(&work())).unwrap(), 1);
}

#[test]
fn que_3_a_cleared_queue_is_empty_after_a_reopen_and_its_rows_are_reclaimed() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path()).unwrap();
    block_on(engine.create_queue(&work())).unwrap();
    block_on(engine.put(&work(), PutMessage::new("in the base"))).unwrap();
    block_on(engine.checkpoint()).unwrap();
    block_on(engine.put(&work(), PutMessage::new("in the journal"))).unwrap();
    block_on(engine.clear(&work())).unwrap();
    block_on(engine.put(&work(), PutMessage::new("later"))).unwrap();
    drop(engine);
    for _ in 0..2 {
        let engine = Engine::open(folder.path()).unwrap();
        assert_eq!(block_on(engine.peek(&work(), 32)).unwrap().len(), 1);
        block_on(engine.checkpoint()).unwrap();
        block_on(engine.close()).unwrap();
    }
}

#[test]
fn a_damaged_text_stops_no_other_message() {
    let folder = tempfile::tempdir().unwrap();
    let (options, time) = clocked();
    let engine = options.clone().open(folder.path()).unwrap();
    block_on(engine.create_queue(&work())).unwrap();
    // Each text fills an entire block.
    let bodies: Vec<String> = ["a", "b", "c", "d"].map(|letter| letter.repeat(20_000)).into();
    for body in &bodies {
        block_on(engine.put(&work(), PutMessage::new(body.as_str()))).unwrap();
    }
    block_on(engine.checkpoint()).unwrap();
    block_on(engine.close()).unwrap();
    let run = folder.path().join("0000000001.rows");
    let mut bytes = std::fs::read(&run).unwrap();
    for body in &bodies[..2] {
        let at = bytes.windows(1_000).position(|part| *part == body.as_bytes()[..1_000]).unwrap();
        bytes[at + 500] ^= 1;
    }
    std::fs::write(&run, bytes).unwrap();

    let engine = options.open(folder.path()).unwrap();
    let peeked = block_on(engine.peek(&work(), 1)).unwrap();
    assert!(peeked.iter().map(|message| &message.text).eq(&bodies[2..3]));
    for round in 1..4 {
        // The first decision of each round finds only corrupted messages.
        for body in &bodies[2..] {
            let received = block_on(engine.receive(&work(), 1, Duration::from_secs(30))).unwrap();
            assert!(texts(&received) == [body], "round {round}: {} messages", received.len());
            assert_eq!(received[0].message.dequeue_count, round);
        }
        assert!(block_on(engine.receive(&work(), 32, Duration::from_secs(30))).unwrap().is_empty());
        assert_eq!(block_on(engine.approximate_count(&work())).unwrap(), 4);
        pass(&time, 31);
    }
    let all = block_on(engine.receive(&work(), 32, Duration::from_secs(30))).unwrap();
    assert!(all.iter().map(|lease| &lease.message.text).eq(&bodies[2..]));
}

#[test]
fn que_3_queues_are_not_tables_and_tables_are_not_queues() {
    let engine = Engine::in_memory();
    block_on(engine.create_queue(&work())).unwrap();
    assert!(block_on(engine.list_tables("", None, 10)).unwrap().names.is_empty());
    let table = table_store::TableName::new("work").unwrap();
    let error = block_on(TableStore::query(&engine, &table, &Query::new(KeyRange::ALL), None)).unwrap_err();
    assert!(error.is_table_not_found());
    block_on(engine.create_table(&table)).unwrap();
    let other = QueueName::new("other").unwrap();
    let error = block_on(engine.put(&other, PutMessage::new("x"))).unwrap_err();
    assert_eq!((error.code(), error.table()), (ErrorCode::QueueNotFound, None));
}

#[test]
fn every_error_of_a_queue_contains_its_name() {
    let (options, _) = clocked();
    let engine = options.in_memory();
    block_on(engine.create_queue(&work())).unwrap();
    let lease = block_on(engine.put(&work(), PutMessage::new("a"))).unwrap();
    block_on(engine.receive(&work(), 1, Duration::from_secs(30))).unwrap();
    let check = |code: ErrorCode| {
        let (id, second) = (&lease.message.id, Duration::from_secs(1));
        let errors = [
            block_on(engine.delete(&work(), id, &lease.receipt)).unwrap_err(),
            block_on(engine.update(&work(), &lease, second, None)).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.code(), code);
            assert!(error.to_string().contains("queue `work`"), "{error}");
        }
    };
    check(ErrorCode::PopReceiptMismatch);
    block_on(engine.clear(&work())).unwrap();
    check(ErrorCode::MessageNotFound);
    block_on(engine.clone().close()).unwrap();
    check(ErrorCode::EngineClosed);
    let errors = [
        block_on(engine.create_queue(&work())).map(drop),
        block_on(engine.put(&work(), PutMessage::new("a"))).map(drop),
        block_on(engine.receive(&work(), 1, Duration::from_secs(1))).map(drop),
        block_on(engine.peek(&work(), 1)).map(drop),
        block_on(engine.approximate_count(&work())).map(drop),
        block_on(engine.clear(&work())),
        block_on(engine.delete_queue(&work())),
    ];
    for error in errors.map(Result::unwrap_err) {
        assert_eq!(error.code(), ErrorCode::EngineClosed);
        assert!(error.to_string().contains("queue `work`"), "{error}");
    }
}

#[test]
fn que_15_the_name_of_a_deleted_queue_waits_like_a_tables() {
    let (options, time) = clocked();
    let engine = options.table_delete_delay(Duration::from_secs(30)).in_memory();
    block_on(engine.create_queue(&work())).unwrap();
    block_on(engine.delete_queue(&work())).unwrap();
    let error = block_on(engine.create_queue(&work())).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::QueueBeingDeleted, Some("QUE-15")));
    pass(&time, 31);
    assert!(block_on(engine.create_queue(&work())).unwrap());
}

#[test]
fn a_clock_that_goes_back_hides_no_visible_message() {
    let (options, time) = clocked();
    let engine = options.in_memory();
    block_on(engine.create_queue(&work())).unwrap();
    block_on(engine.put(&work(), PutMessage::new("a"))).unwrap();
    time.fetch_sub(3_600 * SECOND, Ordering::SeqCst);
    block_on(engine.put(&work(), PutMessage::new("b"))).unwrap();
    let taken = block_on(engine.receive(&work(), 32, Duration::from_secs(30))).unwrap();
    assert_eq!(texts(&taken), ["a", "b"]);
}

#[test]
fn a_clock_that_goes_back_before_a_reopen_hides_no_visible_message_and_keeps_the_order() {
    for back in [1, SECOND / 2, SECOND, 3_600 * SECOND] {
        let folder = tempfile::tempdir().unwrap();
        let (options, time) = clocked();
        let engine = options.clone().open(folder.path()).unwrap();
        block_on(engine.create_queue(&work())).unwrap();
        block_on(engine.put(&work(), PutMessage::new("a"))).unwrap();
        drop(engine);
        time.fetch_sub(back, Ordering::SeqCst);
        let engine = options.open(folder.path()).unwrap();
        block_on(engine.put(&work(), PutMessage::new("b"))).unwrap();
        let taken = block_on(engine.receive(&work(), 32, Duration::from_secs(30))).unwrap();
        assert_eq!(texts(&taken), ["a", "b"], "the clock goes back by {back} ticks");
    }
}

#[test]
fn que_7_a_clock_set_back_and_corrected_expires_no_message() {
    for is_reopened in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (options, time) = clocked();
        let mut engine = Some(options.clone().open(folder.path()).unwrap());
        let opened = engine.as_ref().unwrap();
        block_on(opened.create_queue(&work())).unwrap();
        // The message expires after seven days.
        block_on(opened.put(&work(), PutMessage::new("a"))).unwrap();
        if is_reopened {
            engine = None;
        }
        let wrong = 60 * 86_400 * SECOND;
        time.fetch_sub(wrong, Ordering::SeqCst);
        let engine = engine.unwrap_or_else(|| options.open(folder.path()).unwrap());
        assert_eq!(block_on(engine.peek(&work(), 1)).unwrap().len(), 1);
        time.fetch_add(wrong, Ordering::SeqCst);
        let taken = block_on(engine.receive(&work(), 1, Duration::from_secs(30))).unwrap();
        assert_eq!(texts(&taken), ["a"], "reopened: {is_reopened}");
        assert_eq!(block_on(engine.approximate_count(&work())).unwrap(), 1);
    }
}

#[test]
fn que_7_expired_messages_hide_no_others_and_are_removed() {
    let (options, time) = clocked();
    let engine = options.in_memory();
    block_on(engine.create_queue(&work())).unwrap();
    for _ in 0..=2 * super::decisions::EXPIRED {
        let short = PutMessage::new("short").time_to_live(TimeToLive::For(Duration::from_secs(1)));
        block_on(engine.put(&work(), short)).unwrap();
    }
    pass(&time, 2);
    block_on(engine.put(&work(), PutMessage::new("long"))).unwrap();
    assert_eq!(block_on(engine.peek(&work(), 32)).unwrap().len(), 1);
    let taken = block_on(engine.receive(&work(), 1, Duration::from_secs(30))).unwrap();
    assert_eq!(texts(&taken), ["long"]);
    let state = engine.inner.state().unwrap();
    assert_eq!(state.memtable.len(), 2, "rows are left of messages whose time is over");
}

#[test]
fn que_10_concurrent_receivers_never_hold_the_same_message() {
    let folder = tempfile::tempdir().unwrap();
    let (options, _) = clocked();
    let engine = options.open(folder.path()).unwrap();
    block_on(engine.create_queue(&work())).unwrap();
    for n in 0..200 {
        block_on(engine.put(&work(), PutMessage::new(n.to_string()))).unwrap();
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let receivers: Vec<_> = (0..8)
        .map(|n| {
            let (engine, seen) = (engine.clone(), Arc::clone(&seen));
            thread::spawn(move || {
                loop {
                    let hidden = Duration::from_secs(30);
                    let leases = block_on(engine.receive(&work(), 1 + n % 5, hidden)).unwrap();
                    if leases.is_empty() {
                        return;
                    }
                    for lease in leases {
                        seen.lock().unwrap().push(lease.message.text.clone());
                        block_on(engine.delete(&work(), &lease.message.id, &lease.receipt)).unwrap();
                    }
                }
            })
        })
        .collect();
    for receiver in receivers {
        receiver.join().unwrap();
    }
    let seen = seen.lock().unwrap();
    assert_eq!((seen.len(), seen.iter().collect::<HashSet<_>>().len()), (200, 200));
    assert_eq!(block_on(engine.approximate_count(&work())).unwrap(), 0);
}

#[derive(Clone, Debug)]
enum Step {
    Put { hidden: u8, lives: u8 },
    Receive { count: u8, hidden: u8 },
    Update { which: u8, hidden: u8, text: bool },
    Delete { which: u8 },
    Clear,
    Recreate,
    Pass(u8),
    Checkpoint,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..4_u8, 0..40_u8).prop_map(|(hidden, lives)| Step::Put { hidden, lives }),
        6 => (1..4_u8, 1..9_u8).prop_map(|(count, hidden)| Step::Receive { count, hidden }),
        3 => (any::<u8>(), 0..9_u8, any::<bool>())
            .prop_map(|(which, hidden, text)| Step::Update { which, hidden, text }),
        3 => any::<u8>().prop_map(|which| Step::Delete { which }),
        1 => Just(Step::Clear),
        1 => Just(Step::Recreate),
        4 => (1..6_u8).prop_map(Step::Pass),
        1 => Just(Step::Checkpoint),
        1 => Just(Step::Reopen),
    ]
}

/// A message in the model: its text, visibility time, expiry, dequeue count and receipt number.
#[derive(Clone, Debug)]
struct Held {
    text: String,
    visible: u64,
    expires: Option<u64>,
    count: u32,
    receipt: usize,
}

fn later(now: u64, seconds: u8) -> u64 {
    now + u64::from(seconds) * SECOND
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn que_7_to_13_a_queue_agrees_with_a_plain_model(steps in prop::collection::vec(step(), 1..60)) {
        let folder = tempfile::tempdir().unwrap();
        let (options, time) = clocked();
        let mut engine = options.clone().open(folder.path()).unwrap();
        block_on(engine.create_queue(&work())).unwrap();
        let mut model: BTreeMap<String, Held> = BTreeMap::new();
        // Every lease issued so far. The model stores only the last lease of each message.
        let mut leases: Vec<Lease> = Vec::new();
        // The incarnation stays the same until the queue is deleted. Programs can therefore store it with external data about the queue.
        let mut incarnation = engine.queue_incarnation(&work()).unwrap();
        let mut incarnations = HashSet::from([incarnation]);
        for (n, step) in steps.into_iter().enumerate() {
            let now = time.load(Ordering::SeqCst);
            model.retain(|_, held| held.expires.is_none_or(|expires| expires > now));
            match step {
                Step::Put { hidden, lives } => {
                    let mut message = PutMessage::new(n.to_string()).hidden(Duration::from_secs(hidden.into()));
                    message.time_to_live = if lives > hidden {
                        TimeToLive::For(Duration::from_secs(lives.into()))
                    } else {
                        TimeToLive::Never
                    };
                    let lease = block_on(engine.put(&work(), message)).unwrap();
                    model.insert(lease.message.id.to_string(), Held {
                        text: n.to_string(),
                        visible: later(now, hidden),
                        expires: (lives > hidden).then(|| later(now, lives)),
                        count: 0,
                        receipt: leases.len(),
                    });
                    leases.push(lease);
                }
                Step::Receive { count, hidden } => {
                    let taken = block_on(engine.receive(
                        &work(), count.into(), Duration::from_secs(hidden.into()),
                    )).unwrap();
                    let showing = model.values().filter(|held| held.visible <= now).count();
                    prop_assert_eq!(taken.len(), showing.min(count.into()));
                    for lease in taken {
                        let held = model.get_mut(lease.message.id.as_str()).unwrap();
                        prop_assert!(held.visible <= now, "it was hidden");
                        held.count += 1;
                        held.visible = later(now, hidden);
                        held.receipt = leases.len();
                        prop_assert_eq!(&lease.message.text, &held.text);
                        prop_assert_eq!(lease.message.dequeue_count, held.count);
                        leases.push(lease);
                    }
                }
                Step::Update { which, hidden, text } if !leases.is_empty() => {
                    let at = usize::from(which) % leases.len();
                    let lease = leases[at].clone();
                    let text = text.then(|| format!("updated {n}"));
                    let hidden_for = Duration::from_secs(hidden.into());
                    let outcome = block_on(engine.update(&work(), &lease, hidden_for, text.clone()));
                    match model.get_mut(lease.message.id.as_str()) {
                        None => prop_assert_eq!(outcome.unwrap_err().code(), ErrorCode::MessageNotFound),
                        Some(held) if held.receipt != at => {
                            prop_assert_eq!(outcome.unwrap_err().code(), ErrorCode::PopReceiptMismatch);
                        }
                        Some(held) => {
                            held.visible = later(now, hidden);
                            held.text = text.unwrap_or_else(|| held.text.clone());
                            held.receipt = leases.len();
                            leases.push(outcome.unwrap());
                        }
                    }
                }
                Step::Delete { which } if !leases.is_empty() => {
                    let at = usize::from(which) % leases.len();
                    let lease = &leases[at];
                    let id = &lease.message.id;
                    let outcome = block_on(engine.delete(&work(), id, &lease.receipt));
                    match model.get(id.as_str()) {
                        None => prop_assert_eq!(outcome.unwrap_err().code(), ErrorCode::MessageNotFound),
                        Some(held) if held.receipt != at => {
                            prop_assert_eq!(outcome.unwrap_err().code(), ErrorCode::PopReceiptMismatch);
                        }
                        Some(_) => {
                            outcome.unwrap();
                            model.remove(id.as_str());
                        }
                    }
                }
                Step::Update { .. } | Step::Delete { .. } => {}
                Step::Clear => {
                    block_on(engine.clear(&work())).unwrap();
                    model.clear();
                }
                Step::Recreate => {
                    block_on(engine.delete_queue(&work())).unwrap();
                    block_on(engine.create_queue(&work())).unwrap();
                    model.clear();
                    incarnation = engine.queue_incarnation(&work()).unwrap();
                    prop_assert!(incarnations.insert(incarnation), "an earlier queue had this incarnation");
                }
                Step::Pass(seconds) => pass(&time, seconds.into()),
                Step::Checkpoint => block_on(engine.checkpoint()).unwrap(),
                Step::Reopen => {
                    drop(engine);
                    // A reopened engine continues after its last Timestamp. If the clock has stopped, that Timestamp may be several ticks ahead of it.
                    time.fetch_add(1_000, Ordering::SeqCst);
                    engine = options.clone().open(folder.path()).unwrap();
                }
            }
            prop_assert_eq!(engine.queue_incarnation(&work()).unwrap(), incarnation);
            let now = time.load(Ordering::SeqCst);
            model.retain(|_, held| held.expires.is_none_or(|expires| expires > now));
            let count = block_on(engine.approximate_count(&work())).unwrap();
            prop_assert_eq!(count, model.len() as u64);
            let peeked = block_on(engine.peek(&work(), 32)).unwrap();
            let showing = model.values().filter(|held| held.visible <= now).count();
            prop_assert_eq!(peeked.len(), showing.min(32));
        }
    }
}

#[test]
fn a_count_of_many_messages_lets_other_tasks_run() {
    let engine = Engine::in_memory();
    block_on(engine.create_queue(&work())).unwrap();
    for _ in 0..10 {
        block_on(engine.put(&work(), PutMessage::new("a"))).unwrap();
    }
    let queue = work();
    let mut count = pin!(engine.approximate_count(&queue));
    let mut context = Context::from_waker(Waker::noop());
    let pauses = iter::from_fn(|| count.as_mut().poll(&mut context).is_pending().then_some(())).count();
    assert_eq!(pauses, 3, "after each of three portions of three rows");
}

#[test]
fn que_11_a_lease_expires_on_time_after_clock_jumps_and_a_reopen() {
    let folder = tempfile::tempdir().unwrap();
    let (options, time) = clocked();
    let engine = options.clone().open(folder.path()).unwrap();
    block_on(engine.create_queue(&work())).unwrap();
    pass(&time, 86_400);
    block_on(engine.put(&work(), PutMessage::new("a"))).unwrap();
    time.store(BEGIN, Ordering::SeqCst);
    block_on(engine.put(&work(), PutMessage::new("b"))).unwrap();
    let leased =
        |engine: &Engine| block_on(engine.receive(&work(), 32, Duration::from_secs(30))).unwrap().len();
    assert_eq!([leased(&engine), leased(&engine)], [2, 0]);
    pass(&time, 60);
    assert_eq!(leased(&engine), 2);
    drop(engine);
    let engine = options.open(folder.path()).unwrap();
    assert_eq!(leased(&engine), 0);
    pass(&time, 60);
    assert_eq!(leased(&engine), 2);
}

#[test]
fn eng_9_a_name_is_free_on_time_after_clock_jumps() {
    let (options, time) = clocked();
    let engine = options.table_delete_delay(Duration::from_secs(40)).in_memory();
    let name = table_store::name::TableName::new("Employee").unwrap();
    block_on(engine.create_table(&name)).unwrap();
    pass(&time, 86_400);
    block_on(engine.delete_table(&name)).unwrap();
    time.store(BEGIN, Ordering::SeqCst);
    assert_eq!(block_on(engine.create_table(&name)).unwrap_err().code(), ErrorCode::TableBeingDeleted);
    pass(&time, 80);
    block_on(engine.create_table(&name)).unwrap();
}
