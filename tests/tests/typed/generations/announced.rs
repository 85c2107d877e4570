//! Tests an index that is added while an older release writes. No write may be rejected. The index may become ready only once it contains all writes.

use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::{Clock, ErrorCode, IfMatch, Result, Table, TableStoreExt};
use table_patterns::index::{FindingKind, IndexReport, IndexState};
use table_patterns::{Entities, EntityStore};
use tests::faults::Control;
use tests::time::Time;

use super::kit::{HOUR, Process, raced, under_load};
use super::{before, indexed, kit, refused, table_at};

/// The number of ticks in three days.
const DAYS: i64 = 3 * 86_400 * 10_000_000;

async fn open<S: TableStore + Clone + 'static>(time: &Time, store: &S) -> Entities<indexed::Employee, S> {
    let new = store.entities::<indexed::Employee>().with_runtime(time.runtime());
    new.create_if_missing().await.unwrap()
}

async fn backfill<S: TableStore + Clone + 'static>(
    new: &Entities<indexed::Employee, S>,
) -> Result<IndexReport> {
    new.backfill::<indexed::EmployeeByEmail>().page(2).run().await
}

/// Runs the backfill until the index is ready. Waits each time for as long as the backfill requests.
async fn build(time: &Time, new: &Entities<indexed::Employee, Engine>) {
    while let Some(rest) = backfill(new).await.unwrap().retry_after {
        time.pass(rest);
    }
    assert_eq!(new.states().await.unwrap(), [("ByEmail", IndexState::Ready)]);
    let report = new.check().run().await.unwrap();
    assert!(report.is_clean(), "{report:?}");
}

async fn ids(new: &Entities<indexed::Employee, Engine>, email: &str) -> Option<u32> {
    new.get(indexed::Employee::by_email("Sales", email)).await.unwrap().map(|employee| employee.id)
}

#[test]
fn two_programs_under_load_are_not_refused_and_the_index_misses_nothing() {
    let time = Time::default();
    let store = time.engine();
    let old = block_on(table_at::<before::Employee>(&time, &store).create_if_missing()).unwrap();
    for id in 0..8 {
        block_on(old.insert(&before::employee(id, &format!("first{id}")))).unwrap();
    }
    let new = block_on(open(&time, &store));
    // No two employees ever have the same e-mail address. A unique violation is therefore not the result of a race.
    let check = |outcome: Result<()>| {
        assert!(outcome.as_ref().err().is_none_or(|error| error.code() != ErrorCode::UniqueViolation));
        raced(outcome);
    };
    let older = |round: u32| {
        let (id, email) = (round % 8, format!("old{}", round % 24));
        let key = || before::Employee::key("Sales", id);
        check(match round % 5 {
            0 => block_on(old.delete(key(), IfMatch::Any)),
            1 => block_on(old.insert_or_replace(&before::employee(id, &email))).map(drop),
            2 => block_on(old.merge(&before::employee(id, &email), IfMatch::Any)).map(drop),
            3 => block_on(old.update(key(), |one| one.email.clone_from(&email))).map(drop),
            _ => block_on(old.insert(&before::employee(id, &email))).map(drop),
        });
    };
    under_load(&time, 200, older, |round| {
        let (id, email) = (round % 8, format!("new{}", round % 24));
        let key = || indexed::Employee::key("Sales", id);
        check(match round % 4 {
            0 => block_on(new.delete(key(), IfMatch::Any)),
            1 => block_on(new.insert_or_replace(&indexed::employee(id, &email))).map(drop),
            2 => block_on(new.update(key(), |one| one.email.clone_from(&email))).map(drop),
            _ => block_on(new.insert(&indexed::employee(id, &email))).map(drop),
        });
        if round % 20 == 0 {
            assert!(block_on(backfill(&new)).unwrap().retry_after.is_some(), "the older program writes");
        }
    });
    block_on(build(&time, &new));
}

#[test]
fn a_backfill_starts_an_hour_after_its_first_run_and_the_last_sighting() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let old = table_at::<before::Employee>(&time, &store).create_if_missing().await.unwrap();
        old.insert(&before::employee(1, "ada")).await.unwrap();
        let new = open(&time, &store).await;
        let minutes = |report: IndexReport| report.retry_after.map(|rest| (rest.as_secs() + 30) / 60);
        assert_eq!(minutes(backfill(&new).await.unwrap()), Some(60));
        time.pass(HOUR / 2);
        assert_eq!(minutes(backfill(&new).await.unwrap()), Some(30));
        old.insert(&before::employee(2, "grace")).await.unwrap();
        assert_eq!(minutes(backfill(&new).await.unwrap()), Some(60));
        // A restarted program counts as a writer.
        time.pass(HOUR / 3);
        let restarted = table_at::<before::Employee>(&time, &store).create_if_missing().await.unwrap();
        restarted.insert(&before::employee(3, "joan")).await.unwrap();
        assert_eq!(minutes(backfill(&new).await.unwrap()), Some(60));
        let error = new.get(indexed::Employee::by_email("Sales", "ada")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::IndexNotReady);
        assert!(error.to_string().contains("is announced") && error.to_string().contains("retry_after"));

        time.pass(HOUR);
        let report = backfill(&new).await.unwrap();
        assert_eq!((report.repaired, report.retry_after), (3, None));
        assert_eq!(ids(&new, "joan").await, Some(3));
        time.pass(Duration::from_secs(6));
        assert!(refused(restarted.insert(&before::employee(4, "late")).await));
    });
}

/// Tests that an index is announced (recorded as not ready yet) even if its table is empty. An older program may write the first rows.
#[test]
fn an_index_of_an_empty_table_is_announced_as_well() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let old = table_at::<before::Employee>(&time, &store).create_if_missing().await.unwrap();
        let new = open(&time, &store).await;
        old.insert(&before::employee(1, "ada")).await.unwrap();
        time.pass(Duration::from_secs(6));
        old.insert(&before::employee(2, "grace")).await.unwrap();
        build(&time, &new).await;
        assert_eq!((ids(&new, "ada").await, ids(&new, "grace").await), (Some(1), Some(2)));
    });
}

/// Tests that an older program does not replace the schema of an empty table. Handles of the newer program treat the index as complete.
#[test]
fn an_index_of_an_empty_table_stays_complete_when_an_older_program_starts() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let new = open(&time, &store).await;
        assert_eq!(ids(&new, "ada").await, None);
        let old = table_at::<before::Employee>(&time, &store).create_if_missing().await;
        assert!(refused(old.map(drop)));
        new.insert(&indexed::employee(1, "ada")).await.unwrap();
        assert_eq!(ids(&new, "ada").await, Some(1));
        assert_eq!(new.states().await.unwrap(), [("ByEmail", IndexState::Ready)]);
    });
}

/// Tests that an index is not used once the stored schema lacks it. Programs with that schema write entities without index entries.
#[test]
fn an_index_that_the_stored_schema_lacks_is_not_ready() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let new = open(&time, &store).await;
        new.insert(&indexed::employee(1, "ada")).await.unwrap();
        let old = table_at::<before::Employee>(&time, &store);
        old.accept_schema("the release is withdrawn").await.unwrap();
        old.create_if_missing().await.unwrap().insert(&before::employee(2, "grace")).await.unwrap();
        assert_eq!(new.states().await.unwrap(), [("ByEmail", IndexState::Building)]);
        let lookup = new.get(indexed::Employee::by_email("Sales", "grace")).await.unwrap_err();
        for error in [lookup, backfill(&new).await.unwrap_err()] {
            assert_eq!(error.code(), ErrorCode::IndexNotReady);
            assert!(error.to_string().contains("lacks index `ByEmail`"), "{error}");
        }
        new.table().accept_schema("the release is back").await.unwrap();
        let new = open(&time, &store).await;
        build(&time, &new).await;
        assert_eq!((ids(&new, "ada").await, ids(&new, "grace").await), (Some(1), Some(2)));
    });
}

#[test]
fn a_value_released_by_an_older_program_is_free_for_a_newer_one() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let old = table_at::<before::Employee>(&time, &store).create_if_missing().await.unwrap();
        let new = open(&time, &store).await;
        new.insert(&indexed::employee(1, "ada")).await.unwrap();
        new.insert(&indexed::employee(2, "grace")).await.unwrap();
        old.delete(before::Employee::key("Sales", 1), IfMatch::Any).await.unwrap();
        old.update(before::Employee::key("Sales", 2), |one| one.email = "joan".into()).await.unwrap();
        // The older program has not removed the index entries of either employee. The newer program must treat their values as free.
        new.insert(&indexed::employee(3, "ada")).await.unwrap();
        new.insert(&indexed::employee(4, "tim")).await.unwrap();
        new.update(indexed::Employee::key("Sales", 4), |one| one.email = "grace".into()).await.unwrap();
        let error = new.insert(&indexed::employee(5, "grace")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::UniqueViolation);
        build(&time, &new).await;
        assert_eq!((ids(&new, "ada").await, ids(&new, "joan").await), (Some(3), Some(2)));
    });
}

#[test]
fn a_duplicate_of_an_older_program_is_a_finding() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let old = table_at::<before::Employee>(&time, &store).create_if_missing().await.unwrap();
        let new = open(&time, &store).await;
        new.insert(&indexed::employee(1, "ada")).await.unwrap();
        old.insert(&before::employee(2, "ada")).await.unwrap();
        backfill(&new).await.unwrap();
        time.pass(HOUR);
        assert_eq!(backfill(&new).await.unwrap_err().code(), ErrorCode::UniqueViolation);
        let report = new.check().run().await.unwrap();
        let found: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(found, [FindingKind::Duplicate]);
        new.update(indexed::Employee::key("Sales", 2), |one| one.email = "grace".into()).await.unwrap();
        build(&time, &new).await;
    });
}

/// Tests all interleavings of a write by the older program and a backfill. Each of them is suspended at one of its calls.
#[test]
fn a_write_of_the_older_program_at_any_point_of_the_backfill_is_in_the_index() {
    let verbs: [fn(Old) -> Written; 3] = [
        |old| Box::pin(async move { old.insert(&before::employee(9, "nine")).await.map(drop) }),
        |old| Box::pin(async move { old.delete(before::Employee::key("Sales", 1), IfMatch::Any).await }),
        |old| Box::pin(async move { old.merge(&before::employee(1, "new"), IfMatch::Any).await.map(drop) }),
    ];
    let mut refusals = 0;
    for verb in verbs {
        for of_write in 0..6 {
            for of_backfill in 0..18 {
                refusals += u32::from(interleave(verb, of_write, of_backfill));
            }
        }
    }
    assert!(refusals > 0, "a write after the pass has begun is refused");
}

type Old = Table<before::Employee, tests::faults::Controlled<Engine>>;
type Written = Process<Result<()>>;

/// Makes the first `of_backfill` store calls of the backfill and the first `of_write` calls of the write. Then completes both. Returns `true` if the write was
/// rejected.
fn interleave(verb: fn(Old) -> Written, of_write: usize, of_backfill: usize) -> bool {
    let time = Time::default();
    let store = time.engine();
    let control = Control::default();
    // The clock of the older program is correct, days ahead, or days behind.
    let (clock, ahead) = (time.clock(), [0, DAYS, -DAYS][(of_write + of_backfill) % 3]);
    let clock = Clock::new(move || clock.now().saturating_add_signed(ahead));
    let retry = Retry::default().with_runtime(time.runtime().clock(clock));
    let old = control.over(store.clone()).table::<before::Employee>().with_retry(retry);
    let old = block_on(old.create_if_missing()).unwrap();
    block_on(old.insert(&before::employee(1, "ada"))).unwrap();
    let new = block_on(open(&time, &store));
    block_on(backfill(&new)).unwrap();
    time.pass(HOUR);

    let (writer, builder) = (control.stepped(), Control::default().stepped());
    let stepped = builder.over(store.clone());
    let runtime = time.runtime();
    let built: Process<()> = Box::pin(async move {
        let new = stepped.entities::<indexed::Employee>().with_runtime(runtime);
        let new = new.create_if_missing().await.unwrap();
        drop(backfill(&new).await);
    });
    let outcome = kit::interleave((&builder, built, of_backfill), (&writer, verb(old), of_write));
    let is_refused = refused(outcome);
    block_on(async {
        if new.states().await.unwrap()[0].1 == IndexState::Ready {
            let report = new.check().run().await.unwrap();
            assert!(
                report.is_clean(),
                "{of_write} calls of the write, {of_backfill} of the backfill: {report:?}"
            );
        }
        build(&time, &new).await;
    });
    is_refused
}

/// One of several concurrent runs of the backfill. The test advances each run by one call at a time.
struct Run(Control, Process<()>);

/// A fixture in which a backfill may begin. An older program has inserted an entity, a newer one has announced its index, and an hour has passed.
struct Announced {
    time: Time,
    store: Engine,
    new: Entities<indexed::Employee, Engine>,
}

impl Announced {
    fn new() -> Self {
        let time = Time::default();
        let store = time.engine();
        let old = block_on(table_at::<before::Employee>(&time, &store).create_if_missing()).unwrap();
        block_on(old.insert(&before::employee(1, "ada"))).unwrap();
        let new = block_on(open(&time, &store));
        block_on(backfill(&new)).unwrap();
        time.pass(HOUR);
        Self { time, store, new }
    }

    /// Starts a run of the backfill. It stops before each call to the store.
    fn run(&self) -> Run {
        let control = Control::default();
        let new = block_on(open(&self.time, &control.over(self.store.clone())));
        Run(control.stepped(), Box::pin(async move { drop(backfill(&new).await) }))
    }

    /// Starts an older program that opens the table and inserts an entity. It stops before each call to the store.
    fn older(&self, id: u32) -> (Control, Written) {
        let control = Control::default().stepped();
        let table = control.over(self.store.clone()).table::<before::Employee>();
        let old = table.with_retry(Retry::default().with_runtime(self.time.runtime()));
        let insert = async move {
            let old = old.create_if_missing().await?;
            old.insert(&before::employee(id, &format!("mail{id}"))).await.map(drop)
        };
        (control, Box::pin(insert))
    }

    /// Returns `true` if a run of the backfill has blocked older programs. It must not have begun to copy entities into the index yet.
    fn is_closing(&self) -> bool {
        let record = block_on(self.new.table().schema_record()).unwrap().unwrap();
        record.progress.values().any(|position| position.contains("closing"))
    }

    /// Returns `true` if a sighting (a stored record of an older program) is less than an hour old.
    fn is_seen(&self) -> bool {
        let seen = block_on(self.new.table().sightings()).unwrap();
        let hour = u64::try_from(HOUR.as_nanos() / 100).unwrap();
        seen.older.is_some_and(|older| older + hour > seen.now)
    }

    fn is_stored(&self, id: u32) -> bool {
        block_on(self.new.get(indexed::Employee::key("Sales", id))).unwrap().is_some()
    }
}

/// Advances a process one store call at a time until `is_reached` returns `true`. Returns the number of calls made.
fn until<T>(control: &Control, process: &mut Process<T>, is_reached: impl Fn() -> bool) -> usize {
    let steps = (1..1_000).find(|_| control.step(process).is_some() || is_reached());
    assert!(is_reached(), "the process ended before");
    steps.unwrap()
}

fn make<T>(control: &Control, process: &mut Process<T>, calls: usize) {
    assert!((0..calls).all(|_| control.step(process).is_none()));
}

/// Tests three runs of the backfill that read the same time from the store.
///
/// The first run blocks older programs, finds a sighting of one, and admits them again. After a write has been admitted, the second run blocks them again. The
/// third run looked for sightings while the first run was blocking them. It must not confirm the block of the second run.
#[test]
fn a_run_confirms_no_refusal_of_another_run_at_the_same_time() {
    // Counts the calls before each step in identical worlds.
    let rehearsal = Announced::new();
    let Run(control, mut run) = rehearsal.run();
    let before_closing = until(&control, &mut run, || rehearsal.is_closing()) - 1;
    let Run(control, mut third) = rehearsal.run();
    let before_passing = until(&control, &mut third, || !rehearsal.is_closing()) - 1;
    let rehearsal = Announced::new();
    let (control, mut older) = rehearsal.older(9);
    let before_sighting = until(&control, &mut older, || rehearsal.is_seen()) - 1;
    let before_write = before_sighting + until(&control, &mut older, || rehearsal.is_stored(9));

    let world = Announced::new();
    let (Run(first_control, mut first), Run(second_control, mut second)) = (world.run(), world.run());
    make(&second_control, &mut second, before_closing);
    let (seen_control, mut seen) = world.older(2);
    make(&seen_control, &mut seen, before_sighting);
    until(&first_control, &mut first, || world.is_closing());
    let Run(third_control, mut third) = world.run();
    make(&third_control, &mut third, before_passing);
    let outcome = (0..1_000).find_map(|_| seen_control.step(&mut seen)).unwrap();
    assert!(refused(outcome) && world.is_seen(), "it has left a sighting");
    while first_control.step(&mut first).is_none() {}
    assert!(!world.is_closing(), "the first run has found the sighting");
    let (control, mut older) = world.older(9);
    make(&control, &mut older, before_write);
    until(&second_control, &mut second, || world.is_closing());
    while third_control.step(&mut third).is_none() {}
    while control.step(&mut older).is_none() {}
    while second_control.step(&mut second).is_none() {}
    block_on(async {
        assert!(world.is_stored(9));
        assert_ne!(world.new.states().await.unwrap()[0].1, IndexState::Ready, "the write was under way");
        build(&world.time, &world.new).await;
        assert_eq!(ids(&world.new, "mail9").await, Some(9));
    });
}
