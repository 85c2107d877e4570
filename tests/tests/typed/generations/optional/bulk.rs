//! Tests a bulk write of an older program. Once a newer program begins to write, the next transaction of the bulk write must be rejected.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::table::{Bulk, BulkError, BulkProgress, BulkTarget, LEASE, WrittenPositions};
use table_core::{Entity, ErrorCode, Table, TableStoreExt};
use table_patterns::{Entities, EntityStore};
use tests::time::Time;

use super::super::settling::shared;
use super::super::{before as plain, indexed, nicknamed};
use super::crew::{after, before, person};
use super::{newer, older, outbox};

/// The partitions of a bulk write. The write makes one transaction in each partition.
const TEAMS: [&str; 4] = ["a", "b", "c", "d"];

/// The kind of handle that the older program uses for the bulk write.
#[derive(Clone, Copy, Debug)]
enum Handle {
    Table,
    /// A handle for entities without derived rows. It reads nothing before it writes.
    Blind,
    /// A handle for entities with indexes.
    Indexed,
}

fn table<E: Entity, S: TableStore + Clone>(time: &Time, store: &S) -> Table<E, S> {
    store.table::<E>().with_retry(Retry::default().with_runtime(time.runtime()))
}

fn employees() -> Vec<plain::Employee> {
    TEAMS.map(|team| plain::Employee { department: team.into(), ..plain::employee(1, "mail") }).to_vec()
}

/// Replaces the entities in one transaction each. Calls `newer` after `until` transactions.
fn replace_all<T: BulkTarget>(
    handle: &T,
    entities: Vec<T::Entity>,
    (until, newer): (usize, impl Fn() + Sync),
) -> Result<WrittenPositions, BulkError> {
    let progress = |progress: BulkProgress| {
        if progress.written == until {
            newer();
        }
    };
    block_on(Bulk::new(handle).concurrency(1).on_progress(progress).insert_or_replace_all(entities))
}

/// Runs a bulk write in the older program. After `until` transactions, the newer program sets a nickname. Returns the result of the bulk write, and the stored
/// nickname.
fn interrupt<S: TableStore + Clone + 'static>(
    (time, store, engine): (&Time, &S, &Engine),
    handle: Handle,
    until: usize,
) -> (Result<WrittenPositions, BulkError>, Option<String>) {
    let last = TEAMS[TEAMS.len() - 1];
    if let Handle::Indexed = handle {
        let outbox = outbox(time, store, engine);
        let old = block_on(older(time, &outbox));
        let persons = TEAMS.map(|team| before::Person { department: team.into(), ..person(1, 1) }).to_vec();
        block_on(old.bulk().insert_all(&persons)).unwrap();
        let (key, new) = (|| after::Person::key(last, 1), || block_on(newer(time, &outbox)));
        let name = || {
            block_on(new().update(key(), |one| one.nickname = Some("Ada".into()))).unwrap();
        };
        let outcome = replace_all(&old, persons, (until, name));
        return (outcome, block_on(new().get(key())).unwrap().unwrap().into_value().nickname);
    }
    let key = || nicknamed::Employee::key(last, 1);
    let new = || block_on(table::<nicknamed::Employee, S>(time, store).create_if_missing()).unwrap();
    let name = || {
        block_on(new().update(key(), |one| one.nickname = Some("Ada".into()))).unwrap();
    };
    let old = block_on(table::<plain::Employee, S>(time, store).create_if_missing()).unwrap();
    block_on(old.bulk().insert_all(employees())).unwrap();
    let outcome = if let Handle::Table = handle {
        replace_all(&old, employees(), (until, name))
    } else {
        let old = Entities::from(old).with_runtime(time.runtime());
        replace_all(&old, employees(), (until, name))
    };
    (outcome, block_on(new().get(key())).unwrap().unwrap().into_value().nickname)
}

#[test]
fn a_bulk_of_an_older_program_is_refused_from_the_transaction_that_would_remove_a_property() {
    for handle in [Handle::Table, Handle::Blind, Handle::Indexed] {
        for until in 1..TEAMS.len() {
            for is_shared in [false, true] {
                let time = Time::default();
                let engine = time.engine();
                let (outcome, nickname) = if is_shared {
                    interrupt((&time, &shared(engine.clone()), &engine), handle, until)
                } else {
                    interrupt((&time, &engine, &engine), handle, until)
                };
                let at = format!("{handle:?} after {until} transactions, shared: {is_shared}");
                assert_eq!(nickname.as_deref(), Some("Ada"), "{at}");
                let error = outcome.unwrap_err();
                assert_eq!(error.source.code(), ErrorCode::SchemaMismatch, "{at}");
                assert_eq!(error.source.rule(), Some("EVO-3"), "{at}");
                assert_eq!((error.at, error.written), (Some(until), (0..until).collect()), "{at}");
                assert!(error.unknown.is_empty(), "{at}");
            }
        }
    }
}

/// Inserts the entities. After `until` transactions, a newer program backfills an index that the older program does not declare.
fn insert_all<T: BulkTarget<Entity = plain::Employee>>(
    (time, engine): (&Time, &Engine),
    handle: &T,
    until: usize,
) {
    let begin = |progress: BulkProgress| {
        if progress.written == until {
            block_on(async {
                let new = engine.entities::<indexed::Employee>().with_runtime(time.runtime());
                let new = new.create_if_missing().await.unwrap();
                new.backfill::<indexed::EmployeeByEmail>().assume_no_older_programs().run().await.unwrap();
            });
            time.pass(LEASE * 2);
        }
    };
    let inserted = Bulk::new(handle).concurrency(1).on_progress(begin).insert_all(employees());
    let error = block_on(inserted).unwrap_err();
    assert_eq!((error.source.code(), error.source.rule()), (ErrorCode::SchemaMismatch, Some("EVO-21")));
    assert_eq!((error.at, error.written), (Some(until), (0..until).collect()));
    let report = block_on(async {
        let new = engine.entities::<indexed::Employee>().with_runtime(time.runtime());
        new.create_if_missing().await.unwrap().check().run().await.unwrap()
    });
    assert!(report.is_clean(), "{report:?}");
}

#[test]
fn a_bulk_of_an_older_program_is_refused_once_the_backfill_of_a_new_index_has_begun() {
    for until in 1..TEAMS.len() {
        let time = Time::default();
        let engine = time.engine();
        let old = block_on(table::<plain::Employee, _>(&time, &engine).create_if_missing()).unwrap();
        insert_all((&time, &engine), &old, until);
        let time = Time::default();
        let engine = time.engine();
        let old = block_on(table::<plain::Employee, _>(&time, &engine).create_if_missing()).unwrap();
        insert_all((&time, &engine), &Entities::from(old).with_runtime(time.runtime()), until);
    }
}
