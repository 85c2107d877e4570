mod lost;
mod refused;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::{Clock, Engine};
use table_core::{Entity, ErrorCode, Selection, TableStoreExt, ticks};

use super::*;
use crate::tests::faults::{Call, Fault, FaultyStore, sendable};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "EmployeeExpense")]
#[partition_key(employee)]
#[row_key(stamp)]
struct Expense {
    #[digits(6)]
    employee: u32,
    stamp: LogStamp,
    cents: i64,
}

/// An event in a log that is distributed over four partitions with `bucket(…)`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Spread")]
#[partition_key("log_", bucket(stamp, 4))]
#[row_key("event_", stamp)]
struct Spread {
    stamp: LogStamp,
    cents: i64,
}

const T6: u64 = 635_442_654_321_234_567;
/// The number of ticks in a day.
const DAY: u64 = 864_000_000_000;

/// Creates a stopped clock, and the value with which a test sets its time.
fn standing() -> (Clock, Arc<AtomicU64>) {
    let now = Arc::new(AtomicU64::new(T6));
    let hand = Arc::clone(&now);
    (Clock::new(move || hand.load(Ordering::SeqCst)), now)
}

fn log<E: Entity + Send + Sync>() -> (LogTail<E, FaultyStore<Engine>>, FaultyStore<Engine>, Arc<AtomicU64>) {
    let store = FaultyStore::new(Engine::in_memory());
    let (clock, now) = standing();
    let table = block_on(store.table::<E>().create_if_missing()).unwrap();
    store.heal();
    (LogTail::with_clock(table, clock), store, now)
}

fn expense(cents: i64) -> impl Fn(LogStamp) -> Expense {
    move |stamp| Expense { employee: 123, stamp, cents }
}

fn cents(events: &[table_core::Versioned<Expense>]) -> Vec<i64> {
    events.iter().map(|event| event.cents).collect()
}

#[test]
fn pat_log_1_and_3_the_layout_matches_the_catalogue() {
    let (log, store, _) = log::<Expense>();
    let stamp = LogStamp::from_ticks(T6, 1 << 32 | 7);
    block_on(log.table().insert(&expense(4_500)(stamp))).unwrap();
    let rows =
        block_on(store.untyped("EmployeeExpense").unwrap().query(Selection::partition("000123")).collect());
    let row = &rows.unwrap()[0];
    let layout =
        format!("{} | {} | {:?}", row.key().partition_key, row.key().row_key, row.iter().collect::<Vec<_>>());
    insta::assert_snapshot!(layout, @r#"000123 | 2519936321678765432_fffffffefffffff8 | [("Cents", Int64(4500))]"#);
}

#[test]
fn pat_log_4_many_threads_in_one_tick_lose_nothing() {
    let (log, _, _) = log::<Expense>();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let log = log.clone();
            scope.spawn(move || {
                for event in 0..50 {
                    block_on(log.append(expense(thread * 100 + event))).unwrap();
                }
            });
        }
    });
    let events = block_on(log.newest(Expense::partition(123), 1_000)).unwrap();
    assert_eq!(events.len(), 400);
    assert_eq!(events.iter().map(|event| event.cents).collect::<BTreeSet<_>>().len(), 400);
    assert!(events.iter().all(|event| event.stamp.ticks() == T6));
    for thread in 0..8 {
        let own: Vec<i64> = cents(&events).into_iter().filter(|cents| cents / 100 == thread).collect();
        assert!(
            own.is_sorted_by(|left, right| left > right),
            "the order of a thread's appends, latest first"
        );
    }
}

#[test]
fn pat_log_1_stamps_do_not_go_back_with_the_clock() {
    let (log, _, now) = log::<Expense>();
    block_on(log.append(expense(1))).unwrap();
    now.store(T6 - 1_000, Ordering::SeqCst);
    block_on(log.append(expense(2))).unwrap();
    assert_eq!(cents(&block_on(log.newest(Expense::partition(123), 9)).unwrap()), [2, 1]);
}

/// Tests that stamps created at the same time have different tiebreakers (TICK-7).
#[test]
fn pat_log_4_two_writers_that_drew_the_same_number_do_not_collide() {
    let (first, _, _) = log::<Expense>();
    let twin = LogTail {
        table: first.table.clone(),
        writer: Arc::new(Writer::of_number(standing().0, first.writer.number())),
    };
    let stamps = [first.append(expense(1)), twin.append(expense(2))].map(block_on);
    assert_ne!(stamps[0].as_ref().unwrap(), stamps[1].as_ref().unwrap());
    assert_eq!(block_on(first.newest(Expense::partition(123), 9)).unwrap().len(), 2);
}

#[test]
fn con_11_an_append_with_a_lost_response_is_stored_once() {
    let (log, store, _) = log::<Expense>();
    for code in [ErrorCode::OperationTimedOut, ErrorCode::EntityAlreadyExists] {
        store.script(move |_, at| if at == 0 { Fault::After(code) } else { Fault::None });
        block_on(log.append(expense(1))).unwrap();
        assert_eq!(store.calls(), [Call::Submit, Call::Get]);
    }
    store.script(|_, at| if at == 0 { Fault::Before(ErrorCode::OperationTimedOut) } else { Fault::None });
    assert!(block_on(log.append(expense(1))).unwrap_err().is_ambiguous());
    store.heal();
    assert_eq!(block_on(log.newest(Expense::partition(123), 9)).unwrap().len(), 2);
}

#[test]
fn pat_log_4_an_event_without_its_stamp_is_refused() {
    let (log, store, _) = log::<Expense>();
    let error = block_on(log.append(|_| expense(1)(LogStamp::FIRST))).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-LOG-4")));
    assert_eq!(store.calls(), []);
}

#[test]
fn pat_log_3_the_newest_ten_are_one_request() {
    let (log, store, now) = log::<Expense>();
    for event in 0..30 {
        now.fetch_add(1, Ordering::SeqCst);
        block_on(log.append(expense(event))).unwrap();
    }
    store.heal();
    let newest = block_on(sendable(log.newest(Expense::partition(123), 10))).unwrap();
    assert_eq!(cents(&newest), (20..30).rev().collect::<Vec<_>>());
    assert_eq!(store.calls(), [Call::Query]);
}

#[test]
fn pat_log_5_a_spread_log_is_read_as_one() {
    let (log, store, now) = log::<Spread>();
    for cents in 0_i64..40 {
        now.fetch_add(cents.unsigned_abs() % 2, Ordering::SeqCst);
        block_on(sendable(log.append(|stamp| Spread { stamp, cents }))).unwrap();
    }
    let used: BTreeSet<String> = block_on(log.table().scan("a test").max_rows(100).collect())
        .map(|events: Vec<Spread>| {
            events.iter().map(|event| event.key_of().unwrap().partition_key.into_string()).collect()
        })
        .unwrap();
    assert_eq!(used.len(), 4, "appends go to all partitions");
    store.heal();
    let newest = block_on(log.newest(Spread::all_partitions(), 7)).unwrap();
    assert_eq!(
        newest.iter().map(|event| event.cents).collect::<Vec<_>>(),
        (33..40).rev().collect::<Vec<_>>()
    );
    assert_eq!(store.calls(), [Call::Query; 4]);
    let mut follow = log.follow(Spread::all_partitions(), LogStamp::FIRST, Duration::ZERO);
    let mut seen = Vec::new();
    loop {
        let events = block_on(sendable(follow.next_batch(3))).unwrap();
        if events.is_empty() {
            break;
        }
        seen.extend(events.iter().map(|event| event.cents));
    }
    assert_eq!(seen, (0..40).collect::<Vec<_>>());
}

#[test]
fn a_follower_waits_until_events_have_settled() {
    let (log, _, now) = log::<Expense>();
    let mut follow = log.follow(Expense::partition(123), LogStamp::FIRST, Duration::from_secs(2));
    block_on(log.append(expense(1))).unwrap();
    assert!(block_on(follow.next_batch(10)).unwrap().is_empty());
    // An event is stored now with a stamp from a second ago.
    now.fetch_add(10_000_000, Ordering::SeqCst);
    let late = ticks::to_datetime(T6 - 5).unwrap();
    block_on(log.append_at(late, expense(0))).unwrap();
    now.fetch_add(10_000_000, Ordering::SeqCst);
    assert_eq!(cents(&block_on(follow.next_batch(10)).unwrap()), [0, 1]);
    assert!(block_on(follow.next_batch(10)).unwrap().is_empty());
}

#[test]
fn a_follower_with_a_clock_a_day_ahead_misses_nothing() {
    let (log, _, now) = log::<Expense>();
    let (clock, hand) = standing();
    let reader = LogTail::with_clock(log.table.clone(), clock);
    let mut follow = reader.follow(Expense::partition(123), LogStamp::FIRST, Duration::from_secs(2));
    block_on(log.append(expense(1))).unwrap();
    hand.store(T6 + DAY, Ordering::SeqCst);
    assert_eq!(cents(&block_on(follow.next_batch(10)).unwrap()), [1]);
    assert!(block_on(follow.next_batch(10)).unwrap().is_empty());
    now.fetch_add(10_000_000, Ordering::SeqCst);
    block_on(log.append(expense(2))).unwrap();
    let stored = follow.position().to_string().parse().unwrap();
    for mut follow in [follow, reader.follow(Expense::partition(123), stored, Duration::from_secs(2))] {
        hand.store(T6 + 40_000_000, Ordering::SeqCst);
        assert_eq!(cents(&block_on(follow.next_batch(10)).unwrap()), [2]);
    }
}

#[test]
fn a_failed_poll_keeps_its_position() {
    let (log, store, now) = log::<Expense>();
    for event in 0..20 {
        now.fetch_add(7, Ordering::SeqCst);
        block_on(log.append(expense(event))).unwrap();
    }
    for number in 0..3 {
        let mut follow = log.follow(Expense::partition(123), LogStamp::FIRST, Duration::ZERO);
        store.fail_at(number);
        let mut seen = Vec::new();
        for _ in 0..60 {
            seen.extend(block_on(follow.next_batch(4)).map(|events| cents(&events)).unwrap_or_default());
        }
        assert_eq!(seen, (0..20).collect::<Vec<_>>(), "request {number} failed");
    }
}

#[test]
fn a_lagging_follower_takes_few_requests_per_poll() {
    let (log, store, now) = log::<Expense>();
    for event in 0_i64..400 {
        now.fetch_add(1_000_000 + event.unsigned_abs() % 7, Ordering::SeqCst);
        block_on(log.append(expense(event))).unwrap();
    }
    let mut follow = log.follow(Expense::partition(123), LogStamp::from_ticks(T6, 0), Duration::ZERO);
    store.heal();
    let mut seen = Vec::new();
    let mut polls = 0;
    loop {
        let events = block_on(follow.next_batch(50)).unwrap();
        polls += 1;
        if events.is_empty() {
            break;
        }
        seen.extend(cents(&events));
    }
    assert_eq!(seen, (0..400).collect::<Vec<_>>());
    assert!(store.calls().len() <= 3 * polls, "{} requests for {polls} polls", store.calls().len());
    store.heal();
    assert!(block_on(follow.next_batch(50)).unwrap().is_empty());
    assert_eq!(store.calls(), [], "nothing can have settled since");
    now.fetch_add(1, Ordering::SeqCst);
    assert!(block_on(follow.next_batch(50)).unwrap().is_empty());
    assert_eq!(store.calls(), [Call::Query]);
}

/// Tests events with the same stamp in two partitions. An import can create them.
#[test]
fn events_of_one_stamp_in_several_partitions_are_returned_together() {
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Twins")]
    #[partition_key("log_", bucket(side, 4))]
    #[row_key(stamp)]
    struct Twin {
        side: u32,
        stamp: LogStamp,
    }
    let (log, _, _) = log::<Twin>();
    let mut written = 0;
    for tick in [T6 - 9, T6 - 8, T6] {
        for side in 0..20 {
            let twin = Twin { side, stamp: LogStamp::from_ticks(tick, 5) };
            written += usize::from(block_on(log.table().insert(&twin)).is_ok());
        }
    }
    let mut follow = log.follow(Twin::all_partitions(), LogStamp::FIRST, Duration::ZERO);
    let mut seen = 0;
    loop {
        let events = block_on(follow.next_batch(1)).unwrap();
        if events.is_empty() {
            break;
        }
        assert!(events.windows(2).all(|pair| pair[0].stamp == pair[1].stamp));
        seen += events.len();
    }
    assert_eq!((seen, written), (12, 12));
    for most in 1..14 {
        let start = ticks::to_datetime(T6 - 9).unwrap();
        let mut slice = block_on(log.since(Twin::all_partitions(), start, most)).unwrap();
        let mut seen: BTreeSet<_> = slice.items.iter().map(|twin| twin.key_of().unwrap()).collect();
        while let Some(stamp) = slice.resume_before {
            slice = block_on(log.older_than(Twin::all_partitions(), stamp, start, most)).unwrap();
            assert!(slice.items.len() <= most.max(4), "{most}");
            seen.extend(slice.items.iter().map(|twin| twin.key_of().unwrap()));
        }
        assert_eq!(seen.len(), 12, "slices of {most}");
        let newest = block_on(log.newest(Twin::all_partitions(), most)).unwrap();
        assert_eq!(newest.len(), most.min(12));
    }
}

/// A log that contains two kinds of events.
mod kinds {
    use table_core::{EntitySet, TableEntity};

    use super::*;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Signals", set = Signals, kind = "Alarm")]
    #[partition_key(site)]
    #[row_key(stamp)]
    pub(super) struct Alarm {
        pub(super) site: String,
        pub(super) stamp: LogStamp,
    }

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Signals", set = Signals, kind = "Heartbeat")]
    #[partition_key(site)]
    #[row_key(stamp)]
    pub(super) struct Heartbeat {
        pub(super) site: String,
        pub(super) stamp: LogStamp,
    }

    #[derive(EntitySet, Clone, Debug, PartialEq)]
    pub(super) enum Signals {
        Alarm(Alarm),
        Heartbeat(Heartbeat),
        #[other]
        Other(TableEntity),
    }
}

#[test]
fn the_newest_event_behind_events_of_another_kind_takes_few_requests() {
    use kinds::{Alarm, Heartbeat};

    let (alarms, store, now) = log::<Alarm>();
    block_on(alarms.append(|stamp| Alarm { site: "north".into(), stamp })).unwrap();
    let heartbeats = block_on(store.table::<Heartbeat>().create_if_missing()).unwrap();
    let stamp = |tie| LogStamp::from_ticks(T6 + 1, tie);
    let beats: Vec<_> = (0..300).map(|tie| Heartbeat { site: "north".into(), stamp: stamp(tie) }).collect();
    assert!(block_on(heartbeats.bulk().insert_all(&beats)).is_ok());
    now.fetch_add(10, Ordering::SeqCst);
    store.heal();
    let newest = block_on(alarms.newest(Alarm::partition("north"), 1)).unwrap();
    assert_eq!((newest.len(), store.calls()), (1, vec![Call::Query; 2]));
    store.heal();
    let mut follow = alarms.follow(Alarm::partition("north"), LogStamp::FIRST, Duration::ZERO);
    assert_eq!(block_on(follow.next_batch(9)).unwrap().len(), 1);
    assert_eq!(store.calls(), [Call::Query; 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Tests that reads agree with a model, which is a sorted list of pairs. Each pair contains the tick and the sequence number of an append.
    #[test]
    fn pat_log_1_reads_agree_with_a_sorted_list(
        steps in prop::collection::vec(0_u64..4, 0..40),
        page in 1_usize..5,
        most in 1_usize..9,
        back in 0_u64..80,
        resume in 0_usize..6,
    ) {
        let (_, store, _) = log::<Expense>();
        let store = store.pages_of(page);
        let log = LogTail::with_clock(store.table::<Expense>(), Clock::new(|| T6 + 1_000));
        let mut model: Vec<(u64, i64)> = Vec::new();
        for (event, step) in (0_i64..).zip(&steps) {
            let tick = T6 + (step * 7 + event.unsigned_abs()) % 40;
            block_on(log.append_at(ticks::to_datetime(tick).unwrap(), expense(event))).unwrap();
            model.push((tick, event));
        }
        model.sort_unstable();
        let newest_first: Vec<i64> = model.iter().rev().map(|(_, event)| *event).collect();
        let newest = block_on(log.newest(Expense::partition(123), most)).unwrap();
        prop_assert_eq!(cents(&newest), newest_first.iter().copied().take(most).collect::<Vec<_>>());

        let instant = ticks::to_datetime(T6 + 40 - back.min(40)).unwrap();
        let expected: Vec<i64> =
            model.iter().rev().filter(|(tick, _)| *tick >= T6 + 40 - back.min(40)).map(|(_, event)| *event).collect();
        let mut slice = block_on(log.since(Expense::partition(123), instant, most)).unwrap();
        let mut found = cents(&slice.items);
        while let Some(stamp) = slice.resume_before {
            slice = block_on(log.older_than(Expense::partition(123), stamp, instant, most)).unwrap();
            prop_assert!(slice.items.len() <= most);
            found.extend(cents(&slice.items));
        }
        prop_assert_eq!(found, expected);

        let mut follow = log.follow(Expense::partition(123), LogStamp::FIRST, Duration::ZERO);
        let mut seen = Vec::new();
        for poll in 0.. {
            if poll == resume {
                let position = follow.position().to_string().parse().unwrap();
                follow = log.follow(Expense::partition(123), position, Duration::ZERO);
            }
            let events = block_on(follow.next_batch(most)).unwrap();
            prop_assert!(events.len() <= most);
            if events.is_empty() {
                break;
            }
            seen.extend(cents(&events));
        }
        prop_assert_eq!(seen, model.iter().map(|(_, event)| *event).collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Tests a follower whose clock is wrong by any amount. Each step is an append (`None`), or a poll with a clock that is wrong by the given number of days.
    #[test]
    fn a_follower_returns_each_event_once_with_any_clock(
        steps in prop::collection::vec(prop_oneof![Just(None), (-3_i64..4).prop_map(Some)], 0..40),
        most in 1_usize..5,
    ) {
        let (log, _, now) = log::<Expense>();
        let (clock, hand) = standing();
        let reader = LogTail::with_clock(log.table.clone(), clock);
        let mut follow = reader.follow(Expense::partition(123), LogStamp::FIRST, Duration::from_secs(2));
        let (mut written, mut seen) = (0, Vec::new());
        for step in steps {
            now.fetch_add(10_000_000, Ordering::SeqCst);
            let Some(days) = step else {
                block_on(log.append(expense(written))).unwrap();
                written += 1;
                continue;
            };
            hand.store(now.load(Ordering::SeqCst).saturating_add_signed(days * DAY.cast_signed()), Ordering::SeqCst);
            seen.extend(cents(&block_on(follow.next_batch(most)).unwrap()));
        }
        hand.store(now.load(Ordering::SeqCst) + 30_000_000, Ordering::SeqCst);
        loop {
            let events = block_on(follow.next_batch(most)).unwrap();
            if events.is_empty() {
                break;
            }
            seen.extend(cents(&events));
        }
        prop_assert_eq!(seen, (0..written).collect::<Vec<_>>());
    }
}

#[test]
fn cos_1_the_newest_events_are_found_in_a_store_without_order() {
    let store = crate::tests::faults::unordered();
    let log = LogTail::new(block_on(store.table::<Expense>().create_if_missing()).unwrap());
    for cents in 0..2_500 {
        block_on(log.append(expense(cents))).unwrap();
    }
    let of = || Expense::partition(123);
    assert_eq!(cents(&block_on(log.newest(of(), 3)).unwrap()), [2_499, 2_498, 2_497]);
    let mut follow = log.follow(of(), LogStamp::FIRST, Duration::ZERO);
    let mut seen = Vec::new();
    loop {
        let events = block_on(follow.next_batch(400)).unwrap();
        if events.is_empty() {
            break;
        }
        seen.extend(cents(&events));
    }
    assert_eq!(seen, (0..2_500).collect::<Vec<_>>());
}
