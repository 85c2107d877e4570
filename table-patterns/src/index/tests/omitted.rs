//! Tests backfills and checks of tables with entities that the store omits from its pages. While the backfills run, die and continue, another tool spoils and
//! mends entities.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::index::Index;
use table_core::key::EntityKey;
use table_core::table::SchemaRecord;
use table_core::testing::LimitedStore;
use table_core::{Entity, ErrorCode, Result, TableStoreExt};

use super::kit::{Staff, StaffByAge, StaffByEmail, StaffByLastName, expected, stored};
use super::old::{ALL_READY, old_rows, staff};
use crate::EntityStore;
use crate::entities::Entities;
use crate::feed::FEED_PREFIX;
use crate::index::{Finding, FindingKind, IndexReport};
use crate::tests::faults::{Fault, FaultyStore, unordered};

type Store = FaultyStore<LimitedStore<Engine>>;

/// The IDs of the entities that the store cannot represent.
type Strange = Arc<Mutex<BTreeSet<u32>>>;

/// A change that the other tool makes, and the number of the request before which it happens.
type Change = (usize, BTreeSet<u32>);

fn key(id: u32) -> EntityKey {
    staff(id).key_of().unwrap()
}

/// Makes the store misread the entities in `strange`. If the property is a key, a page contains only the number of these entities.
fn misread(store: &Store, property: &'static str, strange: &Strange) {
    let strange = Arc::clone(strange);
    store.misread((property, ErrorCode::EntityMismatch), move |_, of| {
        strange.lock().unwrap().iter().any(|id| key(*id) == *of)
    });
}

/// Runs a backfill until it succeeds. Returns the report of the last run.
fn built<I: Index<Entity = Staff>>(
    (table, store): (&Entities<Staff, Store>, &Store),
    (changes, strange): (&[Change], &Strange),
    dies: Option<usize>,
) -> Result<IndexReport> {
    let (changes, state) = (changes.to_vec(), Arc::clone(strange));
    let mut requests = 0;
    let script = move |at: usize| {
        requests += 1;
        if let Some((_, strange)) = changes.iter().find(|(number, _)| *number == requests) {
            state.lock().unwrap().clone_from(strange);
        }
        let is_dead = dies.is_some_and(|dies| at > dies && requests < 60);
        if is_dead { Fault::Before(ErrorCode::OperationTimedOut) } else { Fault::None }
    };
    let shared = Arc::new(Mutex::new(script));
    for _ in 0..100 {
        let script = Arc::clone(&shared);
        store.script(move |_, at| (script.lock().unwrap())(at));
        let run = block_on(table.backfill::<I>().assume_no_older_programs().page(3).run());
        match run {
            // An entity that becomes unreadable while it is indexed can stop the run.
            Err(error)
                if [ErrorCode::OperationTimedOut, ErrorCode::EntityMismatch].contains(&error.code()) => {}
            run => {
                store.script(|_, _| Fault::None);
                return run;
            }
        }
    }
    panic!("the backfill of {} does not end", I::SCHEMA.name)
}

/// Makes a stored position of a backfill unusable, as if a release with other indexes continued it.
fn displace(table: &Entities<Staff, Store>) {
    let change = |record: &mut SchemaRecord| {
        for text in record.progress.values_mut() {
            let mut progress: serde_json::Value = serde_json::from_str(text).unwrap();
            if let Some(ranges) = progress.pointer_mut("/pass/at/next/position/ranges") {
                *ranges = 1.into();
                *text = progress.to_string();
            }
        }
    };
    block_on(table.table().update_schema_record(change)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Tests the count of entities without an entry. Runs die, two entities have the same value until the first run has ended, and another release continues
    /// the backfill.
    #[test]
    fn pat_intra_4_a_backfill_counts_each_unreadable_entity_once(
        mut strange in prop::collection::btree_set(0_u32..14, 1..5),
        (twin, of) in prop::sample::select(vec![(5_u32, 1_u32), (7, 5), (11, 1), (4, 2), (10, 8)]),
        dies in prop::collection::vec(3_usize..50, 0..4),
        other_release in prop::option::of(0_usize..4),
        has_keys: bool,
        is_ordered: bool,
    ) {
        let inner = if is_ordered { LimitedStore::new(Engine::in_memory(), |_| {}) } else { unordered() };
        let store = FaultyStore::new(inner);
        strange.retain(|id| ![twin, of].contains(id));
        let email = |id| if id == twin { staff(of).email } else { staff(id).email };
        let entities: Vec<_> = (0..14).map(|id| Staff { email: email(id), ..staff(id) }).collect();
        block_on(old_rows(&store, &entities)).unwrap();
        let table = block_on(store.entities::<Staff>().create_if_missing()).unwrap();
        let count = u64::try_from(strange.len()).unwrap();
        misread(&store, if has_keys { "Note" } else { "PartitionKey" }, &Strange::new(Mutex::new(strange)));
        let mut report = None;
        for run in 0..10 {
            let dies = dies.get(run).copied();
            store.script(move |_, at| {
                let is_dead = dies.is_some_and(|dies| at > dies);
                if is_dead { Fault::Before(ErrorCode::OperationTimedOut) } else { Fault::None }
            });
            let done = block_on(table.backfill::<StaffByEmail>().assume_no_older_programs().page(3).run());
            store.script(|_, _| Fault::None);
            report = report.or(done.ok());
            let _ = block_on(store.inner().untyped("Company").unwrap().delete(&key(twin), IfMatch::Any));
            if other_release == Some(run) {
                displace(&table);
            }
        }
        let report = report.unwrap();
        let bad = report.findings.iter().filter(|finding| finding.kind == FindingKind::BadEntity).count();
        prop_assert_eq!(report.skipped + u64::try_from(bad).unwrap(), count, "{:?}", report);
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Rooms", feed, crate = table_core)]
#[partition_key(house)]
#[row_key("room_", number)]
struct Room {
    house: String,
    number: u32,
}

/// Tests rows of a feed that the store cannot represent. Readers of the feed ignore them in silence.
#[test]
fn reserved_rows_that_pages_omit_are_odd_rows_of_a_check() {
    for (property, found, skipped) in [("Changes", 2, 0), ("RowKey", 0, 2)] {
        let store = FaultyStore::new(Engine::in_memory());
        let rooms = block_on(store.entities::<Room>().create_if_missing()).unwrap();
        block_on(rooms.insert(&Room { house: "A".into(), number: 7 })).unwrap();
        assert!(block_on(rooms.check().run()).unwrap().is_clean());
        store.misread((property, ErrorCode::EntityMismatch), |_, key| {
            key.row_key.as_str().starts_with(FEED_PREFIX)
        });
        let report = block_on(rooms.check().run()).unwrap();
        assert_eq!((report.findings.len(), report.skipped, report.is_clean()), (found, skipped, false));
        let is_odd = |finding: &Finding| finding.kind == FindingKind::OddRow && finding.reason.is_some();
        assert!(report.findings.iter().all(is_odd), "{report:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn pat_intra_4_no_index_is_ready_in_silence_beside_entities_that_pages_omit(
        count in 1_u32..14,
        before in prop::collection::btree_set(0_u32..14, 0..4),
        changes in prop::collection::vec((1_usize..30, prop::collection::btree_set(0_u32..14, 0..4)), 0..3),
        again in prop::collection::btree_set(0_u32..14, 0..4),
        dies in prop::option::of(3_usize..30),
        has_keys: bool,
        is_ordered: bool,
    ) {
        let inner = if is_ordered { LimitedStore::new(Engine::in_memory(), |_| {}) } else { unordered() };
        let store = FaultyStore::new(inner);
        let entities: Vec<_> = (0..count).map(staff).collect();
        block_on(old_rows(&store, &entities)).unwrap();
        let table = block_on(store.entities::<Staff>().create_if_missing()).unwrap();
        let strange = Strange::new(Mutex::new(before));
        misread(&store, if has_keys { "Note" } else { "PartitionKey" }, &strange);
        // The other tool changes entities during the first backfill only.
        let reports = [
            built::<StaffByEmail>((&table, &store), (&changes, &strange), dies).unwrap(),
            built::<StaffByAge>((&table, &store), (&[], &strange), dies).unwrap(),
            built::<StaffByLastName>((&table, &store), (&[], &strange), dies).unwrap(),
        ];
        let is_there = |id: &&u32| **id < count;
        let left: BTreeSet<_> = strange.lock().unwrap().iter().filter(is_there).map(|id| key(*id)).collect();
        prop_assert_eq!(block_on(table.states()).unwrap(), ALL_READY);
        let is_constant = changes.is_empty();
        for (report, is_constant) in reports.iter().zip([is_constant, true, true]) {
            let tells = report.found > report.repaired || report.skipped > 0;
            prop_assert!(!is_constant || left.is_empty() || tells, "{:?}: {:?}", left, report);
        }
        // A check finds exactly the entities that are unreadable now, and the entries that they lack or had before.
        let report = block_on(table.check().run()).unwrap();
        prop_assert_eq!(report.is_clean(), left.is_empty() && report.found == 0, "{:?}: {:?}", left, report);
        let bad = report.findings.iter().filter(|finding| finding.kind == FindingKind::BadEntity);
        let bad: BTreeSet<_> = bad.map(|finding| finding.at.clone()).collect();
        prop_assert_eq!(&bad, if has_keys { &left } else { &BTreeSet::new() });
        // Each of the three indexes reads all entities.
        let unknown = if has_keys { 0 } else { 3 * u64::try_from(left.len()).unwrap() };
        prop_assert!(report.skipped >= unknown && (report.skipped == 0) == (unknown == 0), "{report:?}");
        // The other tool mends all entities.
        strange.lock().unwrap().clear();
        block_on(table.check().repair().run()).unwrap();
        prop_assert!(block_on(table.check().run()).unwrap().is_clean());
        prop_assert_eq!(block_on(stored(&store, &["Company"])).unwrap(), expected(&entities));
        prop_assert_eq!(block_on(table.states()).unwrap(), ALL_READY);
        // Entities that have entries become unreadable. Another backfill does not stop at them and keeps their entries.
        strange.lock().unwrap().extend(again.iter().filter(is_there));
        block_on(table.rebuild::<StaffByEmail>()).unwrap();
        let report = built::<StaffByEmail>((&table, &store), (&[], &strange), dies).unwrap();
        prop_assert_eq!(report.is_clean(), strange.lock().unwrap().is_empty(), "{:?}", report);
        strange.lock().unwrap().clear();
        prop_assert!(block_on(table.check().run()).unwrap().is_clean());
        prop_assert_eq!(block_on(stored(&store, &["Company"])).unwrap(), expected(&entities));
    }
}
