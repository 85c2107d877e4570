//! Tests two releases that write to the same tables of periods at the same time, and tables that other processes have dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use pollster::block_on;
use table_core::embedded::{Clock, Engine};
use table_core::table::LAYOUTS;
use table_core::{ErrorCode, Table, TableStore, TableStoreExt, ticks};

use super::{LoginAttempt, attempt, noon, pass};
use crate::EntityStore;
use crate::feed::{FEEDS, Feed};
use crate::participant::{Changes, Participant};
use crate::periods::{Period, PeriodTables, Periodic};

/// Declares the entity type of one release in a module.
macro_rules! release {
    ($name:ident $(, $declared:meta)*) => {
        mod $name {
            use table_core::Entity;

            use super::*;

            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Logins")]
            #[partition_key(user)]
            #[row_key("at_", at)]
            $(#[$declared])*
            pub(super) struct Login {
                pub(super) user: String,
                pub(super) at: DateTime<Utc>,
                pub(super) address: String,
            }

            impl Periodic for Login {
                const PERIOD: Period = Period::Day;

                fn instant(&self) -> DateTime<Utc> {
                    self.at
                }
            }
        }
    };
}

release!(plain);
release!(indexed, index(ByAddress, row_key("address_", without('_', address), "_", at)));

fn login(at: DateTime<Utc>) -> plain::Login {
    plain::Login { user: "ada".into(), at, address: "x".into() }
}

#[test]
fn an_index_that_a_newer_release_adds_is_not_ready_while_the_older_release_writes() {
    let store = Engine::in_memory();
    let (older, newer) =
        (PeriodTables::<plain::Login, _>::new(store.clone()), PeriodTables::<indexed::Login, _>::new(store));
    let (today, tomorrow) = (ticks::now(), ticks::now() + TimeDelta::days(1));
    block_on(older.insert(&login(today))).unwrap();
    block_on(older.prepare()).unwrap();
    for at in [today, tomorrow] {
        let handle = block_on(newer.entities_of(at)).unwrap();
        let later = at + TimeDelta::microseconds(1);
        block_on(older.insert(&login(later))).unwrap();
        let found = block_on(handle.query(indexed::Login::by_address("ada", "x")).collect());
        assert_eq!(found.unwrap_err().code(), ErrorCode::IndexNotReady, "{at}");
        assert!(block_on(handle.table().sightings()).unwrap().older.is_some(), "{at}");
    }
}

#[test]
fn an_older_release_writes_no_entities_without_entries_to_a_table_that_a_newer_release_created() {
    let store = Engine::in_memory();
    let (older, newer) =
        (PeriodTables::<plain::Login, _>::new(store.clone()), PeriodTables::<indexed::Login, _>::new(store));
    let now = ticks::now();
    let handle = block_on(newer.entities_of(now)).unwrap();
    let by_address = || block_on(handle.query(indexed::Login::by_address("ada", "x")).collect());
    assert_eq!(by_address().unwrap(), []);
    let error = block_on(older.insert(&login(now))).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-21")));
    assert_eq!(by_address().unwrap(), []);
    assert_eq!(block_on(handle.scan("a test").max_rows(10).collect()).unwrap(), []);
}

#[test]
fn every_table_of_a_period_has_a_stored_schema() {
    let store = Engine::in_memory();
    let logins = PeriodTables::<plain::Login, _>::new(store.clone());
    let now = ticks::now();
    block_on(logins.prepare()).unwrap();
    block_on(logins.insert(&login(now - TimeDelta::days(3)))).unwrap();
    for days in [-3, 0, 1] {
        let name = logins.name_of(now + TimeDelta::days(days)).unwrap();
        let table = Table::<plain::Login, _>::new(store.clone(), name);
        assert!(block_on(table.schema_record()).unwrap().is_some(), "{days}");
    }
}

/// A participant that records an entry in the partition's feed, although the entity type does not declare a feed.
struct Notes;

impl Participant<LoginAttempt> for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn changes(
        &self,
        _: Option<&LoginAttempt>,
        _: Option<&LoginAttempt>,
        out: &mut Changes,
    ) -> table_core::Result<()> {
        out.record("note", "x");
        Ok(())
    }
}

fn attempts_in<S: TableStore + Clone + 'static>(store: S) -> (PeriodTables<LoginAttempt, S>, Arc<AtomicU64>) {
    let now = Arc::new(AtomicU64::new(ticks::from_datetime(noon()).unwrap()));
    let hand = Arc::clone(&now);
    let clock = Clock::new(move || hand.load(Ordering::SeqCst));
    (PeriodTables::new(store).retain(3).precreate(1).with_clock(clock), now)
}

/// Returns the number of rows in a table.
fn rows(store: &Engine, table: &str) -> usize {
    let all = store.untyped(table).unwrap().scan("a test").max_rows(100);
    block_on(all.collect()).unwrap_or_default().len()
}

#[test]
fn an_expiry_removes_schemas_and_registrations_of_any_type_and_of_tables_that_no_longer_exist() {
    for is_dropped in [false, true] {
        let store = Engine::in_memory();
        let (attempts, now) = attempts_in(store.clone().with_participant::<LoginAttempt>(Notes));
        for days in 0..3 {
            block_on(attempts.insert(&attempt(7, noon() - TimeDelta::days(days)))).unwrap();
        }
        let name = |days| attempts.name_of(noon() - TimeDelta::days(days)).unwrap();
        let (old, kept) = (name(2), name(1));
        assert_eq!((rows(&store, LAYOUTS), rows(&store, FEEDS)), (3, 3));
        if is_dropped {
            // An earlier expiry was interrupted after it had dropped the table.
            block_on(store.delete_table(&old)).unwrap();
        }
        pass(&now, 2);
        assert_eq!(block_on(attempts.expire()).unwrap().len(), usize::from(!is_dropped));
        assert_eq!((rows(&store, LAYOUTS), rows(&store, FEEDS)), (2, 2));
        let feed = Feed::new(store.clone());
        assert_eq!(block_on(feed.partitions(&old)).unwrap(), []);
        assert_eq!(block_on(feed.partitions(&kept)).unwrap().len(), 1);
    }
}

#[test]
fn the_handle_of_a_table_that_another_process_has_dropped_is_not_returned_after_a_lease() {
    let store = Engine::in_memory();
    let (attempts, now) = attempts_in(store.clone());
    let first = block_on(attempts.entities_of(noon())).unwrap();
    block_on(store.delete_table(first.table().name().unwrap())).unwrap();
    now.fetch_add(60_000_000, Ordering::SeqCst);
    let second = block_on(attempts.entities_of(noon())).unwrap();
    block_on(second.insert(&attempt(7, noon()))).unwrap();
}
