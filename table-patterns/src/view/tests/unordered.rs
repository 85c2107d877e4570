//! Tests rebuilds on a store that returns rows in arbitrary order.

use pollster::block_on;
use table_core::TableStoreExt;
use table_core::embedded::Engine;
use table_core::testing::LimitedStore;

use super::kit::{Employee, Headcount, Headcounts};
use crate::EntityStore;
use crate::feed::Feed;
use crate::tests::faults::{Call, FaultyStore, unordered};
use crate::view::{RebuildPosition, ViewTable};

type Store = FaultyStore<LimitedStore<Engine>>;

/// Creates a view of 300 employees, all 70 years old, in three departments and one city.
fn view() -> (ViewTable<Headcounts, Store>, Store) {
    let store = FaultyStore::new(unordered());
    block_on(store.table::<Employee>().create_if_missing()).unwrap();
    let employees = store.entities::<Employee>().with_feed(Feed::new(store.clone()));
    for id in 0..300 {
        let employee = Employee {
            department: format!("d{}", id % 3),
            id,
            name: "Ada".into(),
            city: "London".into(),
            age: 70,
        };
        block_on(employees.insert(&employee)).unwrap();
    }
    (block_on(ViewTable::new(store.clone()).create_if_missing()).unwrap(), store)
}

/// Corrupts the sums of all partitions.
fn damage(store: &FaultyStore<LimitedStore<Engine>>) {
    for of in ["London", "d0", "d1", "d2"] {
        let update = store.table::<Headcount>();
        block_on(update.update(Headcount::key(of, "all"), |row| row.employees += 7)).unwrap();
    }
}

#[test]
fn imp_6_a_rebuild_without_key_order_recounts_each_partition_once() {
    for page in [1_000, 20] {
        let (view, store) = view();
        block_on(view.rebuild().run()).unwrap();
        damage(&store);
        let mut rebuild = view.rebuild().page(page);
        while !serde_json::to_string(rebuild.position()).unwrap().contains("\"Sums\"") {
            block_on(rebuild.step()).unwrap();
        }
        store.heal();
        while serde_json::to_string(rebuild.position()).unwrap().contains("\"Sums\"") {
            block_on(rebuild.step()).unwrap();
        }
        assert_eq!(rebuild.position().progress().corrected, 4);
        let queries = store.calls().iter().filter(|call| **call == Call::Query).count();
        // Each of the four partitions is read four times: its sums twice, and its records once for the comparison and once for the recount. Each employee has
        // two records.
        let pages = 600_usize.div_ceil(page);
        assert!(queries <= pages + 4 * 4, "{queries} queries with {pages} pages of records");
    }
}

#[test]
fn imp_6_a_process_that_resumes_a_rebuild_without_key_order_recounts_the_rest() {
    let (view, store) = view();
    block_on(view.rebuild().run()).unwrap();
    damage(&store);
    let mut stored = RebuildPosition::default();
    loop {
        let mut rebuild = view.rebuild().page(100).resume(stored);
        let is_behind = block_on(rebuild.step()).unwrap();
        stored = rebuild.position().clone();
        if !is_behind {
            break;
        }
    }
    assert_eq!(stored.progress().corrected, 4);
    let rows = block_on(store.table::<Headcount>().scan("to compare").max_rows(100).collect()).unwrap();
    let mut rows: Vec<_> = rows.into_iter().map(|row| (row.of, row.employees)).collect();
    rows.sort();
    let expected = [("London", 300), ("d0", 100), ("d1", 100), ("d2", 100)];
    assert_eq!(rows, expected.map(|(of, employees)| (of.to_owned(), employees)));
}
