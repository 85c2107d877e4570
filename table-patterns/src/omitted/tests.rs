use std::collections::BTreeSet;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::query::KeyRange;
use table_core::testing::LimitedStore;
use table_core::{Entity, TableStoreExt};

use super::*;
use crate::tests::faults::{Call, Fault, FaultyStore, unordered};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Omitted")]
#[partition_key(of)]
#[row_key(number)]
struct One {
    of: u8,
    number: u32,
    note: i32,
}

type Store = FaultyStore<LimitedStore<Engine>>;

type Keys = BTreeSet<(u8, u32)>;

fn key((of, number): (u8, u32)) -> EntityKey {
    One::key(of, number).into_key().unwrap()
}

fn numbers(key: &EntityKey) -> (u8, u32) {
    let number = |text: &str| text.parse::<u32>().unwrap();
    (u8::try_from(number(key.partition_key.as_str())).unwrap(), number(key.row_key.as_str()))
}

fn store(is_ordered: bool, rows: &Keys) -> Store {
    let inner = if is_ordered { LimitedStore::new(Engine::in_memory(), |_| {}) } else { unordered() };
    let table = block_on(inner.table::<One>().create_if_missing()).unwrap();
    for (of, number) in rows {
        block_on(table.insert(&One { of: *of, number: *number, note: 1 })).unwrap();
    }
    FaultyStore::new(inner)
}

/// The rows found by a query: those on its pages, those that cannot be read, and the number of those whose keys are unknown.
type Found = (Keys, Keys, u64);

fn read(store: &Store, top: Option<usize>) -> Result<Found> {
    let (table, query) = (TableName::new("Omitted")?, Query { top, ..Query::new(KeyRange::ALL) });
    let (mut found, mut unreadable, mut skipped, mut from) = (Keys::new(), Keys::new(), 0, None);
    loop {
        let whole = block_on(whole_page((store, &table), &query, from.as_ref()))?;
        for row in whole.page.rows.iter() {
            found.insert(numbers(&EntityKey::new(row.partition_key, row.row_key)?));
        }
        unreadable.extend(whole.unreadable.iter().map(|row| numbers(&row.key)));
        skipped += whole.page.skipped;
        from = whole.page.continuation;
        if from.is_none() {
            return Ok((found, unreadable, skipped));
        }
    }
}

proptest! {
    /// Tests that no row is lost, on pages of any size.
    #[test]
    fn each_row_is_on_a_page_or_unreadable_or_counted(
        rows in prop::collection::btree_set((0..2_u8, 0..40_u32), 0..60),
        strange in prop::collection::btree_set((0..2_u8, 0..40_u32), 0..30),
        top in prop::option::of(1..30_usize),
        page in 1..30_usize,
        code in prop::sample::select(vec![ErrorCode::EntityMismatch, ErrorCode::Corrupted]),
        has_keys: bool,
        is_ordered: bool,
    ) {
        let store = store(is_ordered, &rows).pages_of(page);
        let bad: BTreeSet<_> = strange.iter().map(|one| key(*one)).collect();
        store.misread((if has_keys { "Note" } else { "RowKey" }, code), move |_, key| bad.contains(key));
        let there: Keys = strange.intersection(&rows).copied().collect();
        let good: Keys = rows.difference(&strange).copied().collect();
        let count = u64::try_from(there.len()).unwrap();
        let expected = if has_keys { (good, there, 0) } else { (good, Keys::new(), count) };
        prop_assert_eq!(read(&store, top).unwrap(), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Tests reads while another program inserts or deletes a row before a random request. Only that row may be lost. Others may be found twice.
    #[test]
    fn a_row_that_does_not_change_is_never_lost(
        rows in prop::collection::btree_set((0..1_u8, 0..9_u32), 1..8),
        mut strange in prop::collection::btree_set((0..1_u8, 0..9_u32), 0..4),
        other in (0..1_u8, 0..9_u32),
        at in 0..8_usize,
        top in 1..6_usize,
    ) {
        // Two rows that become unreadable in the same moment can hide one another.
        strange.retain(|row| rows.contains(row));
        let store = store(true, &rows);
        let bad: BTreeSet<_> = strange.iter().map(|one| key(*one)).collect();
        store.misread(("Note", ErrorCode::EntityMismatch), move |_, key| bad.contains(key));
        let (engine, key) = (store.inner().clone(), key(other));
        store.script(move |_, number| {
            let (engine, key) = (engine.clone(), key.clone());
            let change = move || {
                let (table, (of, number)) = (engine.table::<One>(), numbers(&key));
                if block_on(table.insert(&One { of, number, note: 2 })).is_err() {
                    block_on(table.delete(One::key(of, number), table_core::IfMatch::Any)).unwrap();
                }
            };
            if number == at { Fault::Meanwhile(Box::new(change)) } else { Fault::None }
        });
        let (found, unreadable, skipped) = read(&store, Some(top)).unwrap();
        for row in rows.iter().filter(|row| **row != other) {
            let is_known = if strange.contains(row) {
                unreadable.contains(row) || skipped > 0
            } else {
                found.contains(row)
            };
            prop_assert!(is_known, "{:?}: {:?} {:?} {}", row, found, unreadable, skipped);
        }
    }
}

#[test]
fn pages_that_omit_no_rows_cost_one_request_and_others_two_and_one_for_each_row() {
    let store = store(true, &(0..10).map(|number| (1, number)).collect());
    let calls = |strange: &'static [u32]| {
        store.heal();
        store.misread(("Note", ErrorCode::EntityMismatch), move |_, of| {
            strange.iter().any(|number| key((1, *number)) == *of)
        });
        read(&store, None).unwrap();
        store.calls()
    };
    assert_eq!(calls(&[]), [Call::Query]);
    assert_eq!(calls(&[3, 9]), [Call::Query, Call::Query, Call::Get, Call::Get]);
}

#[test]
fn an_outage_at_any_request_is_an_error_and_not_an_unreadable_row() {
    let store = store(true, &(0..4).map(|number| (1, number)).collect());
    store.misread(("Note", ErrorCode::EntityMismatch), |_, of| *of == key((1, 2)));
    for at in 0..3 {
        store.fail_at(at);
        assert_eq!(read(&store, None).unwrap_err().code(), ErrorCode::InternalError, "request {at}");
    }
}
