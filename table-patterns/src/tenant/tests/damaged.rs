//! Tests with corrupted rows: every reserved row of one tenant is replaced with a malformed row. No job that processes another tenant may be affected.

use pollster::block_on;
use table_core::key::text::RESERVED;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::row::Row;
use table_core::store::TableStore;
use table_core::transaction::Transaction;

use super::hostile::{Faults, Total, Totals, bodies, catch_up, work, write};
use super::kit::{Step, World, some_steps};
use super::{assert_erased, own_rows};
use crate::view::ViewTable;

/// Returns the keys of a tenant's reserved rows in a table.
fn reserved(world: &World, table: &str, tenant: &str) -> Vec<String> {
    let rows = world.dump().into_keys();
    let is_theirs = |(of, partition_key, row_key): &(String, String, String)| {
        of == table && partition_key == tenant && row_key.starts_with(RESERVED)
    };
    rows.filter(is_theirs).map(|(_, _, row_key)| row_key).collect()
}

/// Replaces every reserved row of a tenant with a malformed row, then runs the jobs that process several tenants. The other tenant must not be
/// affected.
fn run_damaged(seed: usize) {
    let world = World::after(&some_steps());
    let new_view = || block_on(ViewTable::<Totals, _>::new(world.store.clone()).create_if_missing()).unwrap();
    let view = new_view();
    block_on(view.rebuild().run()).unwrap();
    let insert = Step::Insert { title: 1, topic: 0, agent: Some(1), file: None };
    for tenant in ["contoso", "adatum"] {
        block_on(world.act(tenant, &insert)).unwrap();
    }
    while block_on(view.catch_up(1_000)).unwrap().is_behind {}
    let bodies = bodies();
    for table in ["Desk", "Totals"] {
        let rows = reserved(&world, table, "contoso");
        assert!(!rows.is_empty(), "{table}");
        for (at, row_key) in rows.into_iter().enumerate() {
            replace(&world, table, "contoso", (row_key, bodies[(at + seed) % bodies.len()].clone()));
        }
    }
    let mut faults = Faults { context: format!("damage, seed {seed}"), found: Vec::new() };
    write(&world, "adatum", &mut faults);
    work(&world, &mut faults);
    for (job, view) in [("a follower", view), ("a new follower", new_view())] {
        // With this limit, a single entity that cannot be applied makes the view stop following its partition.
        let view = view.with_poison_limit(0);
        catch_up(job, &view, &mut faults);
        let count = Some(i64::try_from(world.tickets_of("adatum").len()).unwrap());
        let shown = || block_on(async { view.table().await?.get(Total::key("adatum")).await });
        let total = faults.of("view", shown()).flatten();
        faults.expect(job, total.map(|total| total.tickets) == count);
        faults.of("poison of the view", block_on(view.poison()));
        faults.of("freshness", block_on(view.freshness()));
        faults.of("rebuild", block_on(view.rebuild().run()));
        faults.of("retry of poison", block_on(view.retry_poison()));
        let total = faults.of("view", shown()).flatten();
        faults.expect("rebuilt view", total.map(|total| total.tickets) == count);
    }
    faults.of("check", block_on(world.tickets.check().run()));
    for agent in [1, 2] {
        let rename = Step::Rename { agent, name: 4 };
        faults.of("update of a source", block_on(world.act("adatum", &rename)));
    }
    let to = World::new();
    faults.of("copy", block_on(world.tenant("adatum").copy_to(&to.tenant("adatum"))));
    faults.of("count", block_on(world.tenant("contoso").count()));
    let before = world.tickets_of("adatum");
    if faults.of("erasure", block_on(world.tenant("contoso").erase())).is_some() {
        let left = faults.of("proof of the erasure", block_on(world.tenant("contoso").remaining()));
        faults.expect("erasure", left == Some(0));
    }
    faults.expect("the other tenant", world.tickets_of("adatum") == before);
    faults.end();
}

/// Inserts a row, or replaces the stored row.
fn replace(world: &World, table: &str, partition_key: &str, (row_key, row): (String, Row)) {
    let (engine, table) = (world.store.inner(), TableName::new(table).unwrap());
    let limits = engine.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new(partition_key).unwrap(), limits).unwrap();
    let kind = OperationKind::InsertOrReplace(row);
    transaction.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
    block_on(engine.submit(&table, transaction)).unwrap();
}

#[test]
fn damaged_rows_of_one_tenant_stop_no_job_for_another() {
    (0..bodies().len()).for_each(run_damaged);
}

#[test]
fn unreadable_lists_are_reported_and_do_not_stop_an_erasure() {
    for body in bodies() {
        let world = World::after(&some_steps());
        block_on(world.work()).unwrap();
        let before = world.tickets_of("adatum");
        // The lists of topics are shared by all tenants.
        let lists: Vec<_> = world.dump().into_keys().filter(|(table, ..)| table == "Topics").collect();
        assert_eq!(lists.len(), 2);
        for (table, partition_key, row_key) in &lists {
            replace(&world, table, partition_key, (row_key.clone(), body.clone()));
        }
        for _ in 0..2 {
            let erased = block_on(world.tenant("contoso").erase()).unwrap();
            let found = erased.unreadable.iter().map(|finding| {
                assert!(finding.reason.as_ref().is_some_and(|reason| reason.contains("list")), "{finding:?}");
                ("Topics".to_owned(), finding.at.partition_key.to_string(), finding.at.row_key.to_string())
            });
            assert_eq!(found.collect::<Vec<_>>(), lists);
            assert_eq!(
                block_on(world.tenant("contoso").remaining()).unwrap(),
                2,
                "the lists may contain a ticket"
            );
            assert_eq!(own_rows(&world, "contoso"), []);
        }
        block_on(world.tickets.check().repair().run()).unwrap();
        assert_eq!(block_on(world.tenant("contoso").erase()).unwrap().unreadable, []);
        assert_erased(&world, &before);
    }
}
