//! Tests the numbers of requests and rows with which a feed is read, written and trimmed.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use table_core::query::Select;

use super::{World, numbers};
use crate::feed::Cursor;
use crate::tests::faults::Call;

#[test]
fn pat_ec_8_reading_costs_only_new_rows_and_an_idle_poll_one_request() {
    let world = World::new(50);
    let feed = world.feed(0);
    for number in 0..500 {
        world.write(&feed, &[number]);
    }
    world.store.heal();
    let (mut cursor, mut seen) = (Cursor::default(), 0);
    loop {
        let some = world.read(&feed, &cursor, 10);
        let Some(last) = some.last() else { break };
        seen += some.len();
        cursor = last.cursor.clone();
    }
    let calls = world.calls();
    let queries = calls.iter().filter(|call| **call == Call::Query).count();
    assert_eq!(
        (seen, queries, calls.len()),
        (500, 50, 101),
        "the head for each read, and a query for ten entries"
    );
    assert!(world.read(&feed, &cursor, 10).is_empty());
    assert_eq!(world.calls(), [Call::Get]);
}

/// Tests the number of requests for reading a short feed. Each bulk load writes feed rows with many changes; each single write writes a row with one change.
#[test]
fn pat_ec_8_a_young_feed_is_read_about_once_per_row_in_any_batch_size() {
    for (changes, writes) in [(1, 600), (80, 40), (7, 200)] {
        let world = World::new(usize::MAX);
        let feed = world.feed(0);
        for _ in 0..writes {
            world.write(&feed, &vec![0; changes]);
        }
        for portion in [10, 100, 1_000] {
            let (mut cursor, mut rows, mut seen) = (Cursor::default(), 0, 0);
            loop {
                world.store.heal();
                let some = world.read(&feed, &cursor, portion);
                rows += world.store.rows_read();
                let Some(last) = some.last() else { break };
                seen += some.len();
                cursor = last.cursor.clone();
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
    // Another process writes to the feed.
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
    assert_eq!(world.calls(), [Call::Get, Call::Submit, Call::Query, Call::Get, Call::Submit]);
    assert_eq!(world.rows(Select::All), 291, "290 entries and the head");
    assert_eq!(
        numbers(&world.read(&feed, &Cursor::default(), 3)),
        [10, 11, 12],
        "a reader that was before the floor"
    );
    // The cursor of a repeated trim may be before the floor.
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
    for number in 0..5 {
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
    // The row that contains the floor is kept.
    let some = world.read(&feed, &Cursor::default(), 90);
    assert_eq!(block_on(feed.trim(&world.table, &world.sales, &some[89].cursor)).unwrap(), 90);
    assert_eq!(numbers(&world.read(&feed, &Cursor::default(), 100)), (90..98).collect::<Vec<_>>());
}

/// An action on a feed followed by a reader.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Writes `count` changes.
    Write(usize),
    /// Trims the feed to its end.
    Trim,
    /// Reads at most the given number of entries.
    Read(usize),
}

/// Runs actions on a feed. Returns the number of requests sent by each [`Act::Read`].
fn requests_of_reads(acts: &[Act]) -> Vec<usize> {
    let world = World::new(1_000);
    let feed = world.feed(0);
    let (mut cursor, mut written, mut requests) = (Cursor::default(), 0, Vec::new());
    for act in acts {
        match *act {
            Act::Write(changes) => {
                world.write(&feed, &(written..written + changes).collect::<Vec<_>>());
                written += changes;
            }
            Act::Trim => {
                let end = block_on(feed.end(&world.table, &world.sales)).unwrap();
                block_on(feed.trim(&world.table, &world.sales, &end)).unwrap();
            }
            Act::Read(limit) => {
                world.store.heal();
                let some = world.read(&feed, &cursor, limit);
                assert!(some.len() <= limit);
                cursor = some.last().map_or(cursor, |last| last.cursor.clone());
                requests.push(world.calls().len());
            }
        }
    }
    requests
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Tests that a read returns after a few requests for every limit, including 0, even if other processes trim the feed. A read that never returned would
    /// block the test, so the acts run in a thread.
    #[test]
    fn pat_ec_8_a_read_with_any_limit_returns(
        acts in prop::collection::vec(
            prop_oneof![(1..4_usize).prop_map(Act::Write), Just(Act::Trim), (0..3_usize).prop_map(Act::Read)],
            1..12,
        ),
    ) {
        let (done, requests) = mpsc::channel();
        let own = acts.clone();
        thread::spawn(move || done.send(requests_of_reads(&own)));
        let requests = requests.recv_timeout(Duration::from_mins(2));
        prop_assert!(requests.as_ref().is_ok_and(|all| all.iter().all(|count| *count <= 4)), "{:?}: {:?}", acts, requests);
    }
}
