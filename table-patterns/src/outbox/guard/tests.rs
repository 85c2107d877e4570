//! Tests that guarded steps converge, however often and in whatever order they are delivered. Several sources may claim one target.

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::testing::LimitedStore;

use super::*;
use crate::tests::faults::{Fault, FaultyStore};

/// A change by a source, which either claims the target with a value or releases the target.
#[derive(Clone, Debug)]
struct Change {
    origin: Origin,
    value: Option<i32>,
}

/// Returns a history of changes with increasing versions. At most one source claims the target at a time.
fn history(wishes: &[(u8, bool)]) -> Vec<Change> {
    let table = TableName::new("Company").unwrap();
    let mut owner = None;
    let mut changes = Vec::new();
    for (at, (source, lets_go)) in wishes.iter().enumerate() {
        let source = owner.unwrap_or(*source);
        owner = (!lets_go).then_some(source);
        let partition = PartitionKey::new(format!("p{source}")).unwrap();
        let row_key = RowKey::new(source.to_string()).unwrap();
        let origin = Origin::new(&table, &partition, &row_key, 1_000 + at as u64);
        changes.push(Change { origin, value: (!lets_go).then_some(i32::try_from(at).unwrap()) });
    }
    changes
}

fn row(value: i32) -> Row {
    let mut writer = RowWriter::new();
    writer.property("Value", ValueRef::Int32(value));
    writer.finish()
}

fn deliver(engine: &Engine, table: &TableName, target: &EntityKey, change: &Change) -> bool {
    let write = change.value.map_or(TargetWrite::DeleteIfExists, |v| TargetWrite::InsertOrReplace(row(v)));
    block_on(apply((engine, &Retry::default()), table, target, &write, &change.origin)).unwrap()
}

fn value(engine: &Engine, table: &TableName, target: &EntityKey) -> Option<i32> {
    let found = block_on(engine.get(table, target, &Select::All)).unwrap()?;
    match found.row.view().find("Value", &mut 0).unwrap() {
        Some(ValueRef::Int32(value)) => Some(value),
        other => panic!("{other:?}"),
    }
}

fn setting() -> (Engine, TableName, EntityKey) {
    let (engine, table) = (Engine::in_memory(), TableName::new("Directory").unwrap());
    block_on(engine.create_table(&table)).unwrap();
    (engine, table, EntityKey::new("email", "ada@contoso.com").unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn pat_ec_2_any_order_and_number_of_deliveries_ends_with_the_newest(
        wishes in prop::collection::vec((0..3_u8, any::<bool>()), 1..8),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..24),
        last in any::<u64>(),
    ) {
        let changes = history(&wishes);
        let (engine, table, target) = setting();
        for index in order {
            deliver(&engine, &table, &target, &changes[index.index(changes.len())]);
        }
        // Each change is delivered at least once, in a random order.
        let mut rest: Vec<&Change> = changes.iter().collect();
        rest.rotate_left(usize::try_from(last % changes.len() as u64).unwrap());
        if last % 2 == 0 {
            rest.reverse();
        }
        for change in rest {
            deliver(&engine, &table, &target, change);
        }
        prop_assert_eq!(value(&engine, &table, &target), changes.last().unwrap().value);
        for change in &changes {
            prop_assert!(!deliver(&engine, &table, &target, change), "a duplicate was taken");
        }
    }
}

#[test]
fn pat_ec_2_a_deletion_by_another_source_leaves_the_owners_entity() {
    let (engine, table, target) = setting();
    let origin = |source: &str, version| {
        let (partition, row_key) = (PartitionKey::new("p").unwrap(), RowKey::new(source).unwrap());
        Origin::new(&table, &partition, &row_key, version)
    };
    let (old, new) = (origin("old", 1), origin("new", 2));
    deliver(&engine, &table, &target, &Change { origin: old, value: Some(1) });
    deliver(&engine, &table, &target, &Change { origin: new, value: Some(2) });
    deliver(&engine, &table, &target, &Change { origin: origin("old", 3), value: None });
    assert_eq!(value(&engine, &table, &target), Some(2));
}

#[test]
fn a_guard_remembers_the_newest_sources_and_the_owner_in_any_order_of_properties() {
    let (table, mut guard) = (TableName::new("Company").unwrap(), Guard::default());
    let origin = |n: u64| {
        let partition = PartitionKey::new(n.to_string()).unwrap();
        Origin::new(&table, &partition, &RowKey::new("").unwrap(), n + 1)
    };
    guard.take(&origin(1_000), &TargetWrite::InsertOrReplace(row(0)));
    for n in 0..500 {
        guard.take(&origin(n), &TargetWrite::DeleteIfExists);
        // A store may return the guard's properties in a different order.
        guard.versions.sort_by_key(|(source, _)| source.clone());
    }
    assert_eq!(guard.versions.len(), SOURCES);
    assert!((301..500).all(|n| guard.version(&origin(n).source) == Some(n.cast_signed() + 1)));
    assert_eq!(guard.version(&origin(1_000).source), Some(1_001));
    assert_eq!(Guard::read(guard.write().view()).unwrap().versions.len(), SOURCES);
}

#[test]
fn only_guards_of_deleted_entities_are_collected() {
    let (engine, table, target) = setting();
    let other = EntityKey::new("email", "bob@contoso.com").unwrap();
    let changes = history(&[(0, false), (0, true)]);
    deliver(&engine, &table, &target, &changes[0]);
    deliver(&engine, &table, &target, &changes[1]);
    deliver(&engine, &table, &other, &changes[0]);
    assert_eq!(block_on(collect_all_guards(&engine, &table, 0)).unwrap(), 0);
    assert_eq!(block_on(collect_all_guards(&engine, &table, u64::MAX)).unwrap(), 1);
    assert!(block_on(engine.get(&table, &guard_key(&other).unwrap(), &Select::All)).unwrap().is_some());
}

type Store = FaultyStore<LimitedStore<Engine>>;

/// Creates a store with guards of index entries, which have no owner. `true` means that the entry with this number exists.
fn index_entries(entries: &[(u8, bool)], is_ordered: bool) -> (Store, TableName) {
    let (engine, table, _) = setting();
    for (at, (partition, exists)) in entries.iter().enumerate() {
        let target = EntityKey::new(format!("p{partition}"), format!("entry_{at:05}")).unwrap();
        deliver(&engine, &table, &target, &history(&[(0, true)])[0]);
        if *exists {
            let entry = OperationKind::Insert(row(1));
            let entry = [(target.row_key, entry)];
            block_on(converge::submit(&engine, &table, &target.partition_key, entry)).unwrap();
        }
    }
    let limited = LimitedStore::new(engine, |capabilities| capabilities.ordered = is_ordered);
    (FaultyStore::new(if is_ordered { limited } else { limited.shuffled(1_000) }), table)
}

/// Returns the `RowKey`s of all guards.
fn guards(store: &Store, table: &TableName) -> Vec<String> {
    let range = KeyRange { partition_key: TextRange::ALL, row_key: TextRange::prefix(GUARD_PREFIX) };
    let page = block_on(store.inner().query(table, &Query::new(range), None)).unwrap();
    let mut keys: Vec<_> = page.rows.iter().map(|row| row.row_key.to_owned()).collect();
    keys.sort();
    keys
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn exactly_the_guards_of_missing_entries_are_collected(
        entries in prop::collection::vec((0..3_u8, any::<bool>()), 0..60),
        (page, is_ordered, fail) in (1..30_usize, any::<bool>(), 0..40_usize),
        written in any::<prop::sample::Index>(),
    ) {
        let (store, table) = index_entries(&entries, is_ordered);
        let store = store.pages_of(page);
        // Before some request, a step writes an entry, which changes the guard of that entry.
        let written = written.index(entries.len().max(1));
        let late = entries.get(written).map(|(partition, _)| {
            EntityKey::new(format!("p{partition}"), format!("entry_{written:05}")).unwrap()
        });
        let (other, of, mut missing) = (store.inner().clone(), table.clone(), late.clone());
        store.script(move |_, at| match missing.take_if(|_| at == fail) {
            Some(target) => {
                let (other, of) = (other.clone(), of.clone());
                Fault::Meanwhile(Box::new(move || {
                    let change = history(&[(1, false)]).remove(0);
                    let write = TargetWrite::InsertOrReplace(row(2));
                    let origin = Origin { version: 9_000, ..change.origin };
                    block_on(apply((&other, &Retry::default()), &of, &target, &write, &origin)).unwrap();
                }))
            }
            None => Fault::None,
        });
        let before = guards(&store, &table);
        let collected = block_on(collect_all_guards(&store, &table, u64::MAX)).unwrap();
        let is_late = fail < store.calls().len() && late.is_some();
        let after = guards(&store, &table);
        let expected: Vec<_> = entries
            .iter()
            .enumerate()
            .filter(|(at, (_, exists))| *exists || (is_late && *at == written))
            .map(|(at, _)| format!("{GUARD_PREFIX}entry_{at:05}"))
            .collect();
        prop_assert_eq!(&after, &expected);
        // The guard of the entry that was written late may already have been collected.
        let gone = before.len() - after.len();
        prop_assert!((gone..=gone + 1).contains(&usize::try_from(collected).unwrap()));
    }
}

#[test]
fn collecting_guards_needs_few_requests_per_page() {
    let requests = |count: u8, exists| {
        let entries: Vec<_> = (0..u16::from(count) * 8).map(|_| (0, exists)).collect();
        let (store, table) = index_entries(&entries, true);
        store.heal();
        block_on(collect_all_guards(&store, &table, u64::MAX)).unwrap();
        store.calls().len()
    };
    // One query for the guards, one for the entries, and one transaction per 100 guards.
    assert_eq!([requests(25, true), requests(100, true)], [2, 2]);
    assert_eq!([requests(25, false), requests(100, false)], [4, 10]);
}

#[test]
fn key_8_a_target_that_leaves_no_space_for_a_guard_key_is_refused() {
    let long = EntityKey::new("p", "x".repeat(505)).unwrap();
    assert!(guard_key(&long).is_ok());
    let longer = EntityKey::new("p", "x".repeat(506)).unwrap();
    assert_eq!(guard_key(&longer).unwrap_err().rule(), Some("KEY-8"));
}

#[test]
fn the_layout_of_a_guard() {
    let table = TableName::new("Company").unwrap();
    let source = (PartitionKey::new("Sales").unwrap(), RowKey::new("000223").unwrap());
    let mut guard = Guard::default();
    guard.take(
        &Origin::new(&table, &source.0, &source.1, 639_307_584_000_000_000),
        &TargetWrite::InsertOrReplace(row(0)),
    );
    let key = guard_key(&EntityKey::new("email_Sales", "ada@contoso.com").unwrap()).unwrap();
    insta::assert_snapshot!(format!("{key}\n{:?}", guard.write()));
}

#[test]
fn pat_ec_2_merges_of_several_sources_into_one_target_all_take_effect_in_any_order() {
    let company = TableName::new("Company").unwrap();
    let origin = |source: &str, version| {
        let partition = PartitionKey::new(source).unwrap();
        Origin::new(&company, &partition, &RowKey::new("1").unwrap(), version)
    };
    let merge = |name: &str, number| {
        let mut writer = RowWriter::new();
        writer.property(name, ValueRef::Int32(number));
        TargetWrite::InsertOrMerge(writer.finish())
    };
    let steps = [
        (origin("Sales", 1), merge("Sales", 1)),
        (origin("Marketing", 2), merge("Marketing", 2)),
        (origin("Sales", 3), merge("Sales", 3)),
    ];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let (engine, table, target) = setting();
        for at in order {
            let (origin, write) = &steps[at];
            block_on(apply((&engine, &Retry::default()), &table, &target, write, origin)).unwrap();
        }
        let found = block_on(engine.get(&table, &target, &Select::All)).unwrap().unwrap();
        let number = |name| found.row.view().find(name, &mut 0).unwrap();
        let numbers = [number("Sales"), number("Marketing")];
        assert_eq!(numbers, [Some(ValueRef::Int32(3)), Some(ValueRef::Int32(2))], "{order:?}");
    }
}
