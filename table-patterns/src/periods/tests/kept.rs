//! Tests entities that have one table per period, an index, a list, a feed, slots and a participant. Each table must maintain all of these.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use pollster::block_on;
use table_core::embedded::{Clock, Engine};
use table_core::key::PartitionKey;
use table_core::{Entity, ErrorCode, Result, Table, TableStore, ticks};

use super::{noon, pass};
use crate::EntityStore;
use crate::entities::Entities;
use crate::feed::{Cursor, Feed};
use crate::participant::{Changes, Participant};
use crate::periods::{Period, PeriodTables, Periodic};
use crate::series::{HOURS, Series, SeriesTable};
use crate::tests::faults::{Fault, FaultyStore};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Scans", feed)]
#[partition_key(depot)]
#[row_key("scan_", at)]
#[index(ByCode, unique, row_key("code_", code))]
#[index_entity(ByBelt, at_most = 100, row_key("belt_", belt))]
struct Arrival {
    depot: String,
    at: DateTime<Utc>,
    code: String,
    #[digits(2)]
    belt: u32,
}

impl Periodic for Arrival {
    const PERIOD: Period = Period::Day;

    fn instant(&self) -> DateTime<Utc> {
        self.at
    }
}

impl Series for Arrival {
    type Value = i32;
    const SLOTS: &'static [&'static str] = HOURS;
}

#[test]
fn pat_hvd_5_a_table_that_another_process_has_dropped_is_created_by_the_next_write() {
    let engine = Engine::in_memory();
    let tables = PeriodTables::<Arrival, _>::new(engine.clone());
    let late = |code: &str| Arrival {
        depot: "Oslo".into(),
        at: ticks::now() - TimeDelta::days(2),
        code: code.into(),
        belt: 1,
    };
    block_on(tables.insert(&late("a"))).unwrap();
    let others = PeriodTables::<Arrival, _>::new(engine).retain(0);
    assert_eq!(block_on(others.expire()).unwrap().len(), 1);
    block_on(tables.insert(&late("b"))).unwrap();
    let opened = block_on(tables.entities_of(late("b").at)).unwrap();
    let found = block_on(opened.query(Arrival::rows("Oslo")).collect()).unwrap();
    assert_eq!(found.iter().map(|arrival| arrival.code.as_str()).collect::<Vec<_>>(), ["b"]);
}

/// A row that the participant adds whenever a scan is written.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Scans")]
#[partition_key(depot)]
#[row_key("audit_", id)]
struct Audit {
    depot: String,
    id: String,
}

#[test]
fn pat_hvd_4_each_verb_of_a_period_refuses_entities_of_other_periods() {
    let tables = PeriodTables::<Arrival, _>::new(Engine::in_memory());
    let now = ticks::now();
    let today = block_on(tables.entities_of(now)).unwrap();
    for days in [-400, -3, 1, 400] {
        let at = now + TimeDelta::days(days);
        let arrival = Arrival { depot: "Oslo".into(), at, code: format!("c{days}"), belt: 1 };
        let mut unit = today.unit(Arrival::partition("Oslo")).unwrap();
        let by_unit = unit.insert(&arrival).map(drop);
        let by_unit = by_unit.and_then(|()| block_on(unit.commit()).map(drop));
        for (verb, written) in [
            ("insert", block_on(today.insert(&arrival)).map(drop)),
            ("insert_or_replace", block_on(today.insert_or_replace(&arrival)).map(drop)),
            ("insert_or_merge", block_on(today.insert_or_merge(&arrival)).map(drop)),
            (
                "bulk",
                block_on(today.bulk().insert_all([arrival.clone()])).map(drop).map_err(|error| error.source),
            ),
            ("unit", by_unit),
        ] {
            let error = written.expect_err(verb);
            assert_eq!(error.rule(), Some("PAT-HVD-4"), "{verb}, {days}: {error}");
        }
    }
    let arrival = Arrival { depot: "Oslo".into(), at: now, code: "c".into(), belt: 1 };
    block_on(today.insert(&arrival)).unwrap();
    block_on(today.patch(Arrival::key("Oslo", now)).set(Arrival::BELT, 2_u32).send()).unwrap();
}

struct Trail;

impl Participant<Arrival> for Trail {
    fn name(&self) -> &'static str {
        "trail"
    }

    fn changes(&self, _: Option<&Arrival>, new: Option<&Arrival>, out: &mut Changes) -> Result<()> {
        let Some(new) = new else { return Ok(()) };
        out.insert_or_replace(&Audit { depot: new.depot.clone(), id: new.code.clone() })
    }
}

fn scan(days_ago: i64, code: &str) -> Arrival {
    Arrival { depot: "Oslo".into(), at: noon() - TimeDelta::days(days_ago), code: code.into(), belt: 7 }
}

type Scans = PeriodTables<Arrival, Engine>;

fn scans() -> (Scans, Engine, Arc<AtomicU64>) {
    let store = Engine::in_memory();
    let (scans, now) = scans_in(store.clone());
    (scans, store, now)
}

fn scans_in<S: TableStore + Clone + 'static>(store: S) -> (PeriodTables<Arrival, S>, Arc<AtomicU64>) {
    let now = Arc::new(AtomicU64::new(ticks::from_datetime(noon()).unwrap()));
    let hand = Arc::clone(&now);
    let clock = Clock::new(move || hand.load(Ordering::SeqCst));
    (PeriodTables::new(store).retain(3).precreate(1).with_clock(clock), now)
}

#[test]
fn every_table_has_its_own_index_list_feed_and_slots() {
    let (scans, store, _) = scans();
    assert_eq!(block_on(scans.prepare()).unwrap(), 2);
    let of = |days: i64| block_on(scans.entities_of(noon() - TimeDelta::days(days))).unwrap();
    for days in [0, 2] {
        block_on(scans.insert(&scan(days, "A-1"))).unwrap();
        let error = block_on(
            scans.insert(&Arrival { at: scan(days, "").at + TimeDelta::hours(1), ..scan(days, "A-1") }),
        );
        assert_eq!(error.unwrap_err().code(), ErrorCode::UniqueViolation);
        block_on(SeriesTable::new(of(days)).set(&scan(days, "A-1"), 9, 40)).unwrap();
        let key = || Arrival::key("Oslo", scan(days, "").at);
        block_on(of(days).update(key(), |scan| scan.belt = 8)).unwrap();
        let series = block_on(SeriesTable::new(of(days)).get(key())).unwrap().unwrap();
        assert_eq!((series.entity.belt, series.slot(9)), (8, Some(&40)));
        let found = block_on(of(days).get(Arrival::by_code("Oslo", "A-1"))).unwrap().unwrap();
        assert_eq!(found.at, scan(days, "").at);
        let listed = block_on(of(days).get_by_index(Arrival::by_belt("Oslo", 8))).unwrap();
        assert_eq!(listed.len(), 1);
        assert!(block_on(of(days).check().run()).unwrap().is_clean());
        let (table, depot) = (scans.name_of(scan(days, "").at).unwrap(), PartitionKey::new("Oslo").unwrap());
        let entries =
            block_on(Feed::new(store.clone()).read(&table, &depot, &Cursor::default(), 10)).unwrap();
        assert_eq!(entries.len(), 3);
    }
    let query = scans.query(Arrival::partition("Oslo"), noon() - TimeDelta::days(3), noon()).unwrap();
    let codes: Vec<_> = block_on(query.collect()).unwrap().into_iter().map(|scan| scan.at).collect();
    assert_eq!(codes, [scan(2, "").at, scan(0, "").at], "rows of indexes and feeds are passed over");
}

#[test]
fn a_limited_query_of_a_period_skips_index_rows_in_few_requests() {
    let store = FaultyStore::new(Engine::in_memory());
    let (scans, _) = scans_in(store.clone());
    let today = block_on(scans.entities_of(noon())).unwrap();
    for number in 0..150 {
        let at = noon() + TimeDelta::seconds(number);
        let belt = u32::try_from(number % 50).unwrap();
        block_on(scans.insert(&Arrival { depot: "Oslo".into(), at, code: format!("c{number:03}"), belt }))
            .unwrap();
    }
    for limit in [1, 3, 100] {
        store.heal();
        let query = scans.query(Arrival::partition("Oslo"), noon(), noon()).unwrap();
        assert_eq!(block_on(query.limit(limit).collect()).unwrap().len(), limit);
        assert!(store.calls().len() <= 2, "{limit}: {:?}", store.calls());
        store.heal();
        assert_eq!(
            block_on(today.query(Arrival::partition("Oslo")).limit(limit).collect()).unwrap().len(),
            limit
        );
        assert!(store.calls().len() <= 2, "{limit}: {:?}", store.calls());
    }
    store.heal();
    assert!(block_on(today.query(Arrival::partition("Oslo")).first()).unwrap().is_some());
    store.heal();
    let table = today.table();
    assert!(block_on(table.query(Arrival::partition("Oslo")).first()).unwrap().is_some());
    assert!(store.calls().len() <= 2, "{:?}", store.calls());
}

#[test]
fn a_unit_and_participants_write_in_the_table_of_a_period() {
    let store = Engine::in_memory().with_participant::<Arrival>(Trail);
    let (scans, _) = scans_in(store.clone());
    let yesterday = block_on(scans.entities_of(noon() - TimeDelta::days(1))).unwrap();
    let mut unit = yesterday.unit(Arrival::partition("Oslo")).unwrap();
    unit.insert(&scan(1, "A-1")).unwrap();
    let error = unit.insert(&Audit { depot: "Oslo".into(), id: "B".into() }).unwrap_err();
    assert!(error.to_string().contains("the entity lies in table `Scans`"), "{error}");
    assert!(error.to_string().contains("`unit.use_handle(&others.entities_of(at).await?)`"), "{error}");
    block_on(unit.commit()).unwrap();
    let audits = Table::<Audit, _>::new(store.clone(), scans.name_of(scan(1, "").at).unwrap());
    assert!(block_on(audits.get(Audit::key("Oslo", "A-1"))).unwrap().is_some());

    let audits = Entities::from(audits);
    let mut unit = yesterday.unit(Arrival::partition("Oslo")).unwrap().with(&audits);
    unit.insert(&Audit { depot: "Oslo".into(), id: "B".into() }).unwrap();
    block_on(unit.commit()).unwrap();
}

/// Declares an entity with a feed, and with tables for one length of period. Tests that expiry removes the schema and the feed registration of a dropped table.
macro_rules! leaves_nothing {
    ($test:ident, $period:ident) => {
        #[test]
        fn $test() {
            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Scans", feed)]
            #[partition_key(depot)]
            #[row_key("scan_", at)]
            struct Scan {
                depot: String,
                at: DateTime<Utc>,
            }

            impl Periodic for Scan {
                const PERIOD: Period = Period::$period;

                fn instant(&self) -> DateTime<Utc> {
                    self.at
                }
            }

            let (store, at) = (Engine::in_memory(), noon());
            let now = Arc::new(AtomicU64::new(ticks::from_datetime(at).unwrap()));
            let hand = Arc::clone(&now);
            let clock = Clock::new(move || hand.load(Ordering::SeqCst));
            let scans = PeriodTables::new(store.clone()).retain(0).with_clock(clock);
            let first = Scan { depot: "Oslo".into(), at };
            block_on(scans.insert(&first)).unwrap();
            let name = scans.name_of(at).unwrap();
            let feed = Feed::new(store.clone());
            assert_eq!(block_on(feed.partitions(&name)).unwrap().len(), 1);
            let next = Period::$period.offset(at, 1).unwrap();
            now.store(ticks::from_datetime(next).unwrap(), Ordering::SeqCst);
            block_on(scans.insert(&Scan { at: next, ..first.clone() })).unwrap();
            assert_eq!(block_on(scans.expire()).unwrap(), std::slice::from_ref(&name));
            assert_eq!(block_on(feed.partitions(&name)).unwrap(), []);
            let handle = Table::<Scan, _>::new(store.clone(), name);
            assert!(block_on(handle.schema_record()).unwrap().is_none());
            assert_eq!(block_on(scans.insert(&first)).unwrap_err().rule(), Some("PAT-HVD-4"));
            // The schema and the feed registration of the retained table remain.
            let name = scans.name_of(next).unwrap();
            assert_eq!(block_on(feed.partitions(&name)).unwrap().len(), 1);
            assert!(block_on(Table::<Scan, _>::new(store, name).schema_record()).unwrap().is_some());
        }
    };
}

leaves_nothing!(a_dropped_table_of_an_hour_leaves_neither_schema_nor_feed_registration, Hour);
leaves_nothing!(a_dropped_table_of_a_day_leaves_neither_schema_nor_feed_registration, Day);
leaves_nothing!(a_dropped_table_of_a_month_leaves_neither_schema_nor_feed_registration, Month);
leaves_nothing!(a_dropped_table_of_a_quarter_leaves_neither_schema_nor_feed_registration, Quarter);
leaves_nothing!(a_dropped_table_of_a_year_leaves_neither_schema_nor_feed_registration, Year);

#[test]
fn an_expiry_that_fails_at_any_request_leaves_no_feed_registration() {
    for number in 0.. {
        for lost in [false, true] {
            let store = FaultyStore::new(Engine::in_memory());
            let (scans, now) = scans_in(store.clone());
            block_on(scans.insert(&scan(3, "A-1"))).unwrap();
            let name = scans.name_of(scan(3, "").at).unwrap();
            pass(&now, 1);
            store.script(move |_, at| match (at == number, lost) {
                (false, _) => Fault::None,
                (true, false) => Fault::Before(ErrorCode::ServerBusy),
                (true, true) => Fault::After(ErrorCode::OperationTimedOut),
            });
            let first = block_on(scans.expire());
            let requests = store.calls().len();
            store.heal();
            block_on(scans.expire()).unwrap();
            assert_eq!(block_on(Feed::new(store.clone()).partitions(&name)).unwrap(), [], "request {number}");
            assert_eq!(block_on(scans.tables()).unwrap(), []);
            if number >= requests {
                first.unwrap();
                return;
            }
        }
    }
}

#[test]
fn handles_of_tables_that_another_process_drops_are_not_kept() {
    let (scans, _, now) = scans();
    for day in 0..50 {
        let at = noon() + TimeDelta::days(day);
        block_on(scans.insert(&Arrival { at, ..scan(0, "A-1") })).unwrap();
        pass(&now, 1);
    }
    // The handles of three earlier periods, of the current period and of the next one may be kept.
    assert!(scans.opened_tables() <= 5, "{}", scans.opened_tables());
}
