//! Tests views in a store that was restored from a backup, in which each table was captured at a different time.

use pollster::block_on;
use proptest::prelude::*;
use table_core::TableStoreExt;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{KeyRange, Query};
use table_core::row::Row;
use table_core::store::TableStore;
use table_core::table::LAYOUTS;

use super::kit::Company;
use crate::converge;
use crate::feed::FEEDS;
use crate::outbox::rows::fresh;
use crate::tests::faults::Fault;

/// An action on the store while it is being backed up.
#[derive(Clone, Copy, Debug)]
enum Act {
    Hire,
    CatchUp,
    /// The partition is listed permanently.
    Keep,
    /// The backup reads the next table.
    Capture,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => Just(Act::Hire),
        8 => Just(Act::CatchUp),
        1 => Just(Act::Keep),
        4 => Just(Act::Capture),
    ];
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
    replace_all(&engine, tables);
    engine
}

/// Replaces the rows of a store's tables with captured rows.
fn replace_all(engine: &Engine, tables: &[(TableName, Vec<(EntityKey, Row)>)]) {
    for (table, rows) in tables {
        block_on(engine.create_table_if_missing(table)).unwrap();
        let gone = captured(engine, table.as_str()).1.into_iter();
        let gone = gone.map(|(key, _)| (key, OperationKind::Delete(IfMatch::Any)));
        let rows = rows.iter().map(|(key, row)| (key.clone(), OperationKind::Insert(fresh(row))));
        for (key, kind) in gone.chain(rows) {
            block_on(converge::submit(engine, table, &key.partition_key, [(key.row_key, kind)])).unwrap();
        }
    }
}

/// The follower that applies the changes after the restore.
#[derive(Clone, Copy, Debug)]
enum Follower {
    /// Each call is made by a new process.
    Restarted,
    /// One process, started after the restore.
    Started,
    /// A process that has run since before the backup. The tables are restored in place.
    Surviving,
}

/// Hires employees with the next numbers.
fn hire(company: &Company, next: &mut u32, count: u32) {
    for _ in 0..count {
        *next += 1;
        company.hire("Sales", *next, "Ada", "London", 36);
    }
}

/// Applies all pending changes, at most `most` per call. Before the request with the number `at`, another process hires an employee.
fn catch_up(company: &mut Company, next: &mut u32, (most, at, follower): (usize, usize, Follower)) {
    *next += 1;
    let (id, other) = (*next, company.again());
    let mut hired = Some(move || other.hire("Sales", id, "Grace", "Paris", 40));
    company.store.script(move |_, number| match hired.take_if(|_| number >= at) {
        Some(hire) => Fault::Meanwhile(Box::new(hire)),
        None => Fault::None,
    });
    while block_on(company.view.catch_up(most)).unwrap().changes > 0 {
        if matches!(follower, Follower::Restarted) {
            *company = company.again();
        }
    }
    company.store.heal();
}

fn is_reported(company: &Company) -> bool {
    !block_on(company.view.poison()).unwrap().is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn imp_6_a_view_restored_from_tables_of_different_moments_follows_later_changes(
        acts in acts(),
        is_rebuilt: bool,
        names in Just(["Company", "Headcounts", FEEDS]).prop_shuffle(),
        follower in prop_oneof![
            Just(Follower::Restarted),
            Just(Follower::Started),
            Just(Follower::Surviving),
        ],
        most in 1..8_usize,
        rounds in prop::collection::vec((0..20_u32, 0..40_usize), 2..4),
    ) {
        let (mut company, mut next, mut tables) = (Company::new(), 0, Vec::new());
        let mut names = names.into_iter();
        hire(&company, &mut next, 1);
        for act in acts.into_iter().chain([Act::Capture; 3]) {
            match act {
                Act::Hire => hire(&company, &mut next, 1),
                Act::CatchUp => drop(block_on(company.view.catch_up(7)).unwrap()),
                Act::Keep => {
                    let table = company.employees.table().name().unwrap().clone();
                    let sales = PartitionKey::new("Sales").unwrap();
                    block_on(company.view.feed().keep_listed(&table, &sales)).unwrap();
                }
                Act::Capture => tables.extend(names.next().map(|name| captured(&company.engine, name))),
            }
        }
        if let Follower::Surviving = follower {
            company.catch_up();
            replace_all(&company.engine, &tables);
        } else {
            // The stored schemas are the same at each of the moments.
            tables.push(captured(&company.engine, LAYOUTS));
            company = Company::on(restored(&tables), |store| store);
        }
        let (sales, table) = (PartitionKey::new("Sales").unwrap(), company.employees.table().name().unwrap());
        let end = block_on(company.view.feed().end(table, &sales)).unwrap();
        if block_on(company.view.position(&sales)).unwrap().number() > end.number() {
            // A feed that has regained as many changes as it had before the restore is indistinguishable from the earlier feed.
            company.catch_up();
        }
        if is_rebuilt {
            company.catch_up();
            block_on(company.view.rebuild().run()).unwrap();
            prop_assert!(!is_reported(&company));
        }
        for (hires, at) in rounds {
            hire(&company, &mut next, hires);
            catch_up(&mut company, &mut next, (most, at, follower));
            catch_up(&mut company, &mut next, (most, at, follower));
            company.catch_up();
            let is_right = company.stored() == Company::expected(&company.sources());
            prop_assert!(is_right || is_reported(&company));
            prop_assert_eq!(block_on(company.view.freshness()).unwrap().pending, 0);
        }
        block_on(company.view.rebuild().run()).unwrap();
        hire(&company, &mut next, 1);
        company.catch_up();
        company.assert_right("rebuilt");
        prop_assert!(!is_reported(&company));
    }
}

/// Tests a table that was restored with a head from before the feed was marked as quiet, while the registry still has the mark. The follower runs throughout.
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
