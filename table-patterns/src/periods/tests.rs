mod kept;
mod releases;
mod two_types;
mod unordered;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::TryStreamExt;
use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::{Clock, Engine};
use table_core::etag::IfMatch;
use table_core::table::LAYOUTS;
use table_core::testing::LimitedStore;
use table_core::{Entity, ErrorCode, Selection, TableEntity, TableStore, TableStoreExt, ticks};

use super::*;
use crate::feed::FEEDS;
use crate::tests::faults::{Call, Fault, FaultyStore, sendable};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "LoginAttempts")]
#[partition_key(user)]
#[row_key(at)]
struct LoginAttempt {
    #[digits(6)]
    user: u32,
    at: DateTime<Utc>,
    succeeded: bool,
}

impl Periodic for LoginAttempt {
    const PERIOD: Period = Period::Day;

    fn instant(&self) -> DateTime<Utc> {
        self.at
    }
}

type Attempts = PeriodTables<LoginAttempt, FaultyStore<Engine>>;

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn noon() -> DateTime<Utc> {
    at("2014-04-23T12:00:00Z")
}

fn attempts() -> (Attempts, FaultyStore<Engine>, Arc<AtomicU64>) {
    let store = FaultyStore::new(Engine::in_memory());
    let now = Arc::new(AtomicU64::new(ticks::from_datetime(noon()).unwrap()));
    let hand = Arc::clone(&now);
    let clock = Clock::new(move || hand.load(Ordering::SeqCst));
    (PeriodTables::new(store.clone()).retain(3).precreate(2).with_clock(clock), store, now)
}

fn attempt(user: u32, at: DateTime<Utc>) -> LoginAttempt {
    LoginAttempt { user, at, succeeded: user.is_multiple_of(2) }
}

fn insert(attempts: &Attempts, user: u32, days_ago: i64) {
    block_on(attempts.insert(&attempt(user, noon() - TimeDelta::days(days_ago)))).unwrap();
}

fn names(attempts: &Attempts) -> Vec<String> {
    block_on(attempts.tables()).unwrap().into_iter().map(|(name, _)| name.as_str().to_owned()).collect()
}

/// Advances the clock by `days` days.
fn pass(now: &AtomicU64, days: u64) {
    now.fetch_add(days * 864_000_000_000, Ordering::SeqCst);
}

/// Tests a call that starts just before the end of a period. It must prepare the tables of that period and of the periods after it.
#[test]
fn prepare_creates_the_tables_of_one_instant() {
    for retain in [0, 3] {
        let now = AtomicU64::new(ticks::from_datetime(noon()).unwrap());
        // The period ends between any two readings of the clock.
        let clock = Clock::new(move || now.fetch_add(864_000_000_000, Ordering::SeqCst));
        let attempts = PeriodTables::<LoginAttempt, _>::new(Engine::in_memory()).retain(retain).precreate(2);
        let attempts = attempts.with_clock(clock);
        assert_eq!(block_on(attempts.prepare()).unwrap(), 3);
        let starts: Vec<_> =
            block_on(attempts.tables()).unwrap().into_iter().map(|(_, start)| start).collect();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == TimeDelta::days(1)), "{starts:?}");
    }
}

#[test]
fn pat_hvd_1_and_2_the_layout_matches_the_catalogue() {
    let (attempts, store, _) = attempts();
    insert(&attempts, 123, 0);
    let rows = store.untyped("LoginAttempts20140423").unwrap().query(Selection::partition("000123"));
    let row = block_on(rows.first()).unwrap().unwrap();
    let layout = format!("{} | {}", row.key().partition_key, row.key().row_key);
    insta::assert_snapshot!(layout, @"000123 | 0635338512000000000");
}

#[test]
fn pat_hvd_5_tables_are_created_ahead_and_once() {
    let (attempts, store, now) = attempts();
    assert_eq!(block_on(attempts.prepare()).unwrap(), 3);
    insta::assert_snapshot!(names(&attempts).join(" "), @"LoginAttempts20140423 LoginAttempts20140424 LoginAttempts20140425");
    assert_eq!(block_on(attempts.prepare()).unwrap(), 0);
    pass(&now, 1);
    assert_eq!(block_on(attempts.prepare()).unwrap(), 1);
    store.heal();
    insert(&attempts, 123, 0);
    assert_eq!(store.calls(), [Call::Submit], "a write to a table that was made ahead is one request");
}

#[test]
fn pat_hvd_5_tables_are_created_ahead_up_to_the_end_of_the_calendar() {
    for (now, made) in [("9999-12-29T12:00:00Z", 3), ("9999-12-31T23:59:59Z", 1), ("0001-01-01T00:00:00Z", 3)]
    {
        let (attempts, _, hand) = attempts();
        hand.store(ticks::from_datetime(at(now)).unwrap(), Ordering::SeqCst);
        assert_eq!(block_on(attempts.prepare()).unwrap(), made, "{now}");
        block_on(attempts.insert(&attempt(1, at(now)))).unwrap();
        assert_eq!(block_on(attempts.expire()).unwrap(), []);
    }
}

#[test]
fn pat_hvd_4_an_instant_outside_the_periods_is_refused() {
    let (attempts, store, now) = attempts();
    insert(&attempts, 1, 3);
    block_on(attempts.insert(&attempt(1, at("2014-04-25T23:59:59Z")))).unwrap();
    store.heal();
    for outside in ["2014-04-19T23:59:59Z", "2014-04-26T00:00:00Z"] {
        let error = block_on(attempts.insert(&attempt(1, at(outside)))).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::OutOfRangeInput, Some("PAT-HVD-4")));
        assert_eq!(error.table(), Some("LoginAttempts"));
        assert!(attempts.query(LoginAttempt::partition(1), at(outside), noon()).is_err());
        assert!(attempts.query(LoginAttempt::partition(1), noon(), at(outside)).is_err());
    }
    assert_eq!(store.calls(), []);
    // A late write does not recreate the expired table.
    pass(&now, 1);
    block_on(attempts.expire()).unwrap();
    assert!(block_on(attempts.insert(&attempt(1, noon() - TimeDelta::days(3)))).is_err());
    assert_eq!(names(&attempts), ["LoginAttempts20140425"]);
}

#[test]
fn pat_hvd_1_expiry_is_one_request_per_table_of_any_size() {
    let (attempts, store, now) = attempts();
    for user in 0..300 {
        insert(&attempts, user, 3);
    }
    insert(&attempts, 1, 2);
    // These tables have similar names, but do not belong to a period.
    for other in ["LoginAttempts", "LoginAttempts2014", "LoginAttempts20140231", "LoginAttemptsOld20140101"] {
        block_on(store.untyped(other).unwrap().create_if_missing()).unwrap();
    }
    assert_eq!(block_on(sendable(attempts.expire())).unwrap(), []);
    pass(&now, 1);
    store.heal();
    let dropped = block_on(attempts.expire()).unwrap();
    assert_eq!(
        dropped.iter().map(table_core::TableName::as_str).collect::<Vec<_>>(),
        ["LoginAttempts20140420"]
    );
    // `expire` reads the stored schemas, lists the tables, drops the table, deletes its schema, and reads the feed registrations.
    assert_eq!(store.calls(), [Call::Query, Call::List, Call::Drop, Call::Submit, Call::Query]);
    assert_eq!(names(&attempts), ["LoginAttempts20140421"]);
    let all: Vec<_> = block_on(store.tables("LoginAttempts").try_collect()).unwrap();
    assert_eq!(all.len(), 5);
}

#[test]
fn pat_hvd_1_a_failed_expiry_is_completed_by_the_next() {
    for number in 0..10 {
        for lost in [false, true] {
            let (attempts, store, now) = attempts();
            for days_ago in 0..4 {
                insert(&attempts, 7, days_ago);
            }
            // The registry of feeds exists because another type has a feed.
            registrations(&store, (0..4).map(|days_ago| (days_ago, 1)));
            pass(&now, 2);
            store.script(move |_, at| match (at == number, lost) {
                (false, _) => Fault::None,
                (true, false) => Fault::Before(ErrorCode::ServerBusy),
                (true, true) => Fault::After(ErrorCode::OperationTimedOut),
            });
            let first = block_on(attempts.expire());
            assert_eq!(
                first.is_err(),
                number < 9,
                "a listing, two drops, two schemas, two registrations, and two queries"
            );
            store.heal();
            block_on(attempts.expire()).unwrap();
            let schemas = store.untyped(LAYOUTS).unwrap().scan("a test").max_rows(9);
            assert_eq!(block_on(schemas.collect()).unwrap().len(), 2);
            assert_eq!(names(&attempts), ["LoginAttempts20140422", "LoginAttempts20140423"]);
            assert_eq!(
                registered(&store),
                [("loginattempts20140422".into(), 1), ("loginattempts20140423".into(), 1)].into()
            );
        }
    }
}

/// Registers feeds. Each pair contains a number of days and a number of partitions: that many partitions of the table from that many days ago are registered.
fn registrations<S: TableStore + Clone>(store: &S, counts: impl IntoIterator<Item = (i64, usize)>) {
    let registry = block_on(store.untyped(FEEDS).unwrap().create_if_missing()).unwrap();
    for (days_ago, count) in counts {
        let day = (noon() - TimeDelta::days(days_ago)).format("%Y%m%d");
        let table = table_core::TableName::new(&format!("LoginAttempts{day}")).unwrap();
        for number in 0..count {
            let partition = table_core::key::PartitionKey::new(format!("{number:06}")).unwrap();
            let key = crate::outbox::registry::key_of(&table, &partition).unwrap();
            let row = TableEntity::new(key.partition_key.as_str(), key.row_key.as_str()).unwrap();
            block_on(registry.insert(&row.with("Table", table.as_str()))).unwrap();
        }
    }
}

/// Returns the number of registered partitions of each table.
fn registered<S: TableStore + Clone>(store: &S) -> BTreeMap<String, usize> {
    let rows = store.untyped(FEEDS).unwrap().scan("a test").max_rows(10_000);
    let mut counts = BTreeMap::new();
    for row in block_on(rows.collect()).unwrap() {
        let partition_key = row.key().partition_key.as_str().to_owned();
        *counts.entry(partition_key.split('_').next().unwrap().to_owned()).or_insert(0) += 1;
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn pat_hvd_1_exactly_the_registrations_of_expired_tables_are_removed(
        counts in prop::collection::vec(0..60_usize, 6),
        (page, is_ordered) in (1..40_usize, any::<bool>()),
    ) {
        let engine = LimitedStore::new(Engine::in_memory(), |capabilities| capabilities.ordered = is_ordered);
        let engine = if is_ordered { engine } else { engine.shuffled(1_000) };
        let store = FaultyStore::new(engine).pages_of(page);
        let counts: Vec<_> = (0..).zip(counts).collect();
        registrations(&store, counts.iter().copied());
        let now = ticks::from_datetime(noon()).unwrap();
        let attempts: PeriodTables<LoginAttempt, _> =
            PeriodTables::new(store.clone()).retain(3).with_clock(Clock::new(move || now));
        prop_assert_eq!(block_on(attempts.expire()).unwrap(), []);
        let kept: usize = counts.iter().filter(|(days_ago, _)| *days_ago <= 3).map(|(_, count)| count).sum();
        let found = registered(&store);
        prop_assert_eq!(found.values().sum::<usize>(), kept);
        prop_assert!(found.keys().all(|table| table.as_str() >= "loginattempts20140420"), "{:?}", found);
    }
}

#[test]
fn pat_hvd_1_the_registrations_of_an_expired_table_are_removed_in_batches() {
    let mut reads = Vec::new();
    for count in [160, 1_600] {
        let (attempts, store, _) = attempts();
        registrations(&store, [(4, count), (1, 5)]);
        store.heal();
        block_on(attempts.expire()).unwrap();
        let calls = store.calls();
        let before = calls.iter().take_while(|call| **call != Call::Submit);
        reads.push(before.filter(|call| **call == Call::Query).count());
        let deletions = calls.iter().filter(|call| **call == Call::Submit).count();
        // The registrations are in 16 partitions of the registry. One of these partitions may be on two pages.
        assert!((16..40).contains(&deletions), "{deletions} transactions for {count} registrations");
        assert_eq!(registered(&store), [("loginattempts20140422".into(), 5)].into());
    }
    // The registrations on a page are removed before the next page is read.
    assert_eq!(reads[0], reads[1]);
}

#[test]
fn pat_hvd_5_a_missing_table_is_created_by_the_first_write() {
    let (attempts, store, _) = attempts();
    insert(&attempts, 7, 0);
    // The table and its schema are created. The schema table is also created, because this is the first schema in the store.
    assert_eq!(
        store.calls(),
        [Call::Get, Call::Create, Call::Submit, Call::Create, Call::Submit, Call::Get, Call::Submit]
    );
    // Another writer creates the table in the meantime.
    let other = attempts.table_of(noon() - TimeDelta::days(2)).unwrap();
    store.script(move |_, number| {
        let other = other.clone();
        match number {
            1 => Fault::Meanwhile(Box::new(move || {
                assert!(block_on(other.store().create_table_if_missing(other.name().unwrap())).unwrap());
            })),
            _ => Fault::None,
        }
    });
    insert(&attempts, 7, 2);
    for number in 0..5 {
        store.fail_at(number);
        let late = attempt(8, noon() - TimeDelta::days(1));
        let _ = block_on(attempts.insert(&late));
        store.heal();
        let _ = block_on(attempts.insert(&late));
        assert_eq!(
            block_on(attempts.query(LoginAttempt::partition(8), late.at, noon()).unwrap().collect()).unwrap(),
            [late]
        );
    }
}

#[test]
fn pat_hvd_3_a_failing_table_fails_the_read() {
    let (attempts, store, _) = attempts();
    for days_ago in 0..3 {
        insert(&attempts, 7, days_ago);
    }
    for number in 0..3 {
        store.fail_at(number);
        let query = attempts.query(LoginAttempt::partition(7), noon() - TimeDelta::days(2), noon()).unwrap();
        assert!(block_on(query.collect()).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Tests that queries over several periods agree with a model, which is a single map in key order.
    #[test]
    fn pat_hvd_3_periods_read_as_one_ordered_table(
        events in prop::collection::vec((0_u32..3, 0_i64..4, 0_i64..5), 0..40),
        (from, to) in (0_i64..4, 0_i64..4),
        page in 1_usize..4,
        limit in prop::option::of(0_usize..12),
    ) {
        let (attempts, store, now) = attempts();
        let mut model = BTreeMap::new();
        for (user, days_ago, second) in events {
            let entity = attempt(user, noon() - TimeDelta::days(days_ago) + TimeDelta::seconds(second));
            let written = block_on(attempts.insert(&entity));
            prop_assert_eq!(written.is_err(), model.insert((user, entity.at), entity).is_some());
        }
        let hand = Arc::clone(&now);
        let clock = Clock::new(move || hand.load(Ordering::SeqCst));
        let small = PeriodTables::new(store.pages_of(page)).retain(3).with_clock(clock);
        let (from, to) = (noon() - TimeDelta::days(from), noon() - TimeDelta::days(to));
        let days = from.date_naive()..=to.date_naive();
        let expected: Vec<LoginAttempt> =
            model.values().filter(|entity| days.contains(&entity.at.date_naive())).cloned().collect();
        let all = small.query(Selection::<LoginAttempt, _>::scan("a test"), from, to).unwrap();
        let limited = match limit {
            Some(limit) => small.query(Selection::<LoginAttempt, _>::scan("a test"), from, to).unwrap().limit(limit),
            None => small.query(Selection::<LoginAttempt, _>::scan("a test"), from, to).unwrap(),
        };
        prop_assert_eq!(&block_on(sendable(all.collect())).unwrap(), &expected);
        let cut: Vec<LoginAttempt> = expected.iter().take(limit.unwrap_or(usize::MAX)).cloned().collect();
        prop_assert_eq!(block_on(limited.collect()).unwrap(), cut);
        let own = small.query(LoginAttempt::partition(2), from, to).unwrap().filter(LoginAttempt::SUCCEEDED.eq(true));
        let of_two: Vec<LoginAttempt> = expected.into_iter().filter(|entity| entity.user == 2).collect();
        prop_assert_eq!(block_on(own.collect()).unwrap(), of_two.as_slice());
        let until = noon() - TimeDelta::days(1);
        let early = small.query(LoginAttempt::rows(2).at(..=until), from, to).unwrap();
        let expected: Vec<LoginAttempt> = of_two.into_iter().filter(|entity| entity.at <= until).collect();
        prop_assert_eq!(block_on(early.collect()).unwrap(), expected);
    }

    /// Tests that a batched delete agrees with a model, which is a set of keys. The delete is interrupted at any request, and resumed with or without its
    /// position. The store may or may not return pages in key order.
    #[test]
    fn pat_hvd_6_a_batched_delete_can_be_interrupted_anywhere(
        users in prop::collection::vec((0_u32..4, 0_i64..200), 0..300),
        page in prop_oneof![Just(7_usize), Just(1_000)],
        is_ordered: bool,
        fail in 0_usize..8,
        lost: bool,
        resume: bool,
        condition: bool,
    ) {
        let engine = LimitedStore::new(Engine::in_memory(), |capabilities| capabilities.ordered = is_ordered);
        let store = FaultyStore::new(if is_ordered { engine } else { engine.shuffled(1_000) }).pages_of(page);
        let table = block_on(store.table::<LoginAttempt>().create_if_missing()).unwrap();
        let mut model: BTreeMap<_, _> = BTreeMap::new();
        for (user, second) in users {
            let entity = attempt(user, noon() + TimeDelta::seconds(second));
            model.insert((user, second), entity);
        }
        prop_assert!(block_on(table.bulk().insert_all(model.values())).is_ok());
        let delete = |position| {
            let mut delete = delete_in_batches(&table, "a test");
            if condition {
                delete = delete.filter(LoginAttempt::SUCCEEDED.eq(true));
            }
            match position {
                Some(position) => block_on(delete.resume(position).run()),
                None => block_on(delete.run()),
            }
        };
        store.script(move |_, at| match (at == fail, lost) {
            (false, _) => Fault::None,
            (true, false) => Fault::Before(ErrorCode::ServerBusy),
            (true, true) => Fault::After(ErrorCode::OperationTimedOut),
        });
        let first = delete(None);
        let (deleted, position) = match first {
            Ok(progress) => (progress.deleted, progress.position),
            Err(stopped) => (stopped.progress.deleted, stopped.progress.position),
        };
        store.heal();
        let second = delete(position.filter(|_| resume)).unwrap();
        let kept: Vec<LoginAttempt> =
            model.values().filter(|entity| condition && !entity.succeeded).cloned().collect();
        let mut found = block_on(table.scan("a test").max_rows(1_000).collect()).unwrap();
        found.sort_by_key(|entity| (entity.user, entity.at));
        let gone = u64::try_from(model.len() - kept.len()).unwrap();
        prop_assert_eq!(found, kept);
        let counted = deleted + second.deleted;
        prop_assert!(counted == gone || lost && counted < gone, "{} of {}", counted, gone);
    }
}

#[test]
fn pat_hvd_6_a_batch_has_100_rows_and_takes_two_requests() {
    let store = FaultyStore::new(Engine::in_memory());
    let table = block_on(store.table::<LoginAttempt>().create_if_missing()).unwrap();
    let all: Vec<_> = (0..250).map(|second| attempt(7, noon() + TimeDelta::seconds(second))).collect();
    assert!(block_on(table.bulk().insert_all(&all)).is_ok());
    store.heal();
    let mut told = Vec::new();
    let delete = delete_in_batches(&table, LoginAttempt::partition(7));
    block_on(delete.on_progress(|progress| told.push(progress.deleted)).run()).unwrap();
    assert_eq!(told, [100, 200, 250]);
    assert_eq!(store.calls().len(), 6);
}

/// Tests entities that the store cannot represent. If the store returns their keys, they are deleted. Otherwise, they are counted and kept.
#[test]
fn pat_hvd_6_a_delete_counts_the_rows_that_pages_omit() {
    for (property, expected) in [("Succeeded", (250, 0)), ("RowKey", (248, 2))] {
        let store = FaultyStore::new(Engine::in_memory());
        let table = block_on(store.table::<LoginAttempt>().create_if_missing()).unwrap();
        let all: Vec<_> = (0..250).map(|second| attempt(7, noon() + TimeDelta::seconds(second))).collect();
        assert!(block_on(table.bulk().insert_all(&all)).is_ok());
        let strange = [3, 200].map(|at: usize| all[at].key_of().unwrap());
        store.misread((property, ErrorCode::EntityMismatch), move |_, of| strange.contains(of));
        let done = block_on(delete_in_batches(&table, LoginAttempt::partition(7)).run()).unwrap();
        assert_eq!((done.deleted, done.skipped), expected, "{property}");
        store.heal();
        let left = block_on(table.query(LoginAttempt::partition(7)).count()).unwrap();
        assert_eq!(left, done.skipped, "{property}");
    }
}

#[test]
fn pat_hvd_6_with_concurrent_writers_no_wrong_row_is_deleted() {
    let store = FaultyStore::new(Engine::in_memory());
    let table = block_on(store.table::<LoginAttempt>().create_if_missing()).unwrap();
    let all: Vec<_> = (0..10).map(|second| attempt(8, noon() + TimeDelta::seconds(second))).collect();
    assert!(block_on(table.bulk().insert_all(&all)).is_ok());
    let (other, entities) = (table.clone(), all.clone());
    store.script(move |call, number| {
        let (other, entities) = (other.clone(), entities.clone());
        if call != Call::Submit || number != 1 {
            return Fault::None;
        }
        Fault::Meanwhile(Box::new(move || {
            let failed = LoginAttempt { succeeded: false, ..entities[3].clone() };
            block_on(other.replace(&failed, IfMatch::Any)).unwrap();
            block_on(other.delete(LoginAttempt::key(8, entities[5].at), IfMatch::Any)).unwrap();
        }))
    });
    let delete =
        delete_in_batches(&table, LoginAttempt::partition(8)).filter(LoginAttempt::SUCCEEDED.eq(true));
    let progress = block_on(sendable(delete.run())).unwrap();
    assert_eq!((progress.deleted, progress.changed), (8, 1));
    let left = block_on(table.query(LoginAttempt::partition(8)).collect()).unwrap();
    assert_eq!(left, [LoginAttempt { succeeded: false, ..all[3].clone() }]);
}
