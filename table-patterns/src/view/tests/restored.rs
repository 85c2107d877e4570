//! Tests views in a store that was restored from a backup that read each table at a different moment.

use std::collections::BTreeSet;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{KeyRange, Query};
use table_core::row::Row;
use table_core::store::TableStore;

use super::kit::{Company, Employee};
use crate::converge;
use crate::feed::FEEDS;
use crate::outbox::rows::fresh;

/// An action in the store while it is being backed up.
#[derive(Clone, Copy, Debug)]
enum Act {
    Hire,
    CatchUp,
    /// The backup reads the next table, in the order of the names.
    Capture,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![Just(Act::Hire), Just(Act::CatchUp), Just(Act::CatchUp), Just(Act::Capture)];
    prop::collection::vec(act, 3..14)
}

/// Returns a table's name and all its rows.
fn captured(engine: &Engine, table: &str) -> (TableName, Vec<(EntityKey, Row)>) {
    let table = TableName::new(table).unwrap();
    let rows = match block_on(engine.query(&table, &Query::new(KeyRange::ALL), None)) {
        Ok(page) => {
            assert!(page.continuation.is_none());
            let rows = page.rows.iter();
            rows.map(|row| (EntityKey::new(row.partition_key, row.row_key).unwrap(), row.row.to_row()))
                .collect()
        }
        Err(error) if error.is_table_not_found() => Vec::new(),
        Err(error) => panic!("{error}"),
    };
    (table, rows)
}

/// Writes captured tables to a new store.
fn restored(tables: &[(TableName, Vec<(EntityKey, Row)>)]) -> Engine {
    let engine = Engine::in_memory();
    for (table, rows) in tables {
        block_on(engine.create_table(table)).unwrap();
        for (key, row) in rows {
            let write = [(key.row_key.clone(), OperationKind::Insert(fresh(row)))];
            block_on(converge::submit(&engine, table, &key.partition_key, write)).unwrap();
        }
    }
    engine
}

/// Hires an employee with the next number.
fn hire(company: &Company, next: &mut u32) {
    *next += 1;
    company.hire("Sales", *next, "Ada", "London", 36);
}

fn is_reported(company: &Company) -> bool {
    !block_on(company.view.poison()).unwrap().is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn imp_6_a_view_restored_from_tables_of_different_moments_follows_later_changes(
        acts in acts(),
        is_rebuilt: bool,
        is_running: bool,
    ) {
        let (company, mut next, mut tables) = (Company::new(), 0, Vec::new());
        let mut names = ["Company", "Headcounts", FEEDS].into_iter();
        hire(&company, &mut next);
        for act in acts.into_iter().chain([Act::Capture; 3]) {
            match act {
                Act::Hire => hire(&company, &mut next),
                Act::CatchUp => drop(block_on(company.view.catch_up(7)).unwrap()),
                Act::Capture => tables.extend(names.next().map(|name| captured(&company.engine, name))),
            }
        }
        let engine = restored(&tables);
        let mut company = Company::on(engine.clone(), |store| store);
        company.catch_up();
        if is_rebuilt {
            block_on(company.view.rebuild().run()).unwrap();
            prop_assert!(!is_reported(&company));
        }
        let ids: BTreeSet<u32> = company.sources().into_iter().map(|employee: Employee| employee.id).collect();
        for _ in 0..2 {
            if !is_running {
                company = company.again();
            }
            hire(&company, &mut next);
            company.catch_up();
            let is_right = company.stored() == Company::expected(&company.sources());
            prop_assert!(is_right || is_reported(&company), "{:?}", ids);
            prop_assert_eq!(block_on(company.view.freshness()).unwrap().pending, 0);
        }
        block_on(company.view.rebuild().run()).unwrap();
        hire(&company, &mut next);
        company.catch_up();
        company.assert_right("rebuilt");
        prop_assert!(!is_reported(&company));
    }
}

/// Tests a table that is restored with a head from before the feed was marked as quiet, while the registry keeps the mark. The follower keeps running.
#[test]
fn imp_6_a_rebuild_lists_a_partition_whose_quiet_mark_does_not_match_its_head() {
    let company = Company::new();
    company.hire("Sales", 1, "Ada", "London", 36);
    let backup = company.backup();
    company.catch_up();
    company.catch_up();
    company.restore(&backup);
    block_on(company.view.rebuild().run()).unwrap();
    let other = company.again();
    other.hire("Sales", 2, "Grace", "Paris", 40);
    company.catch_up();
    company.assert_right("followed");
    assert!(!is_reported(&company));
}
