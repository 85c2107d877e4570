//! Tests tenants with an unreadable entity. Another tool has written one of the entity's properties with a different type.

use pollster::block_on;
use table_core::ErrorCode;
use table_core::ValueRef;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::row::RowWriter;

use super::assert_erased;
use super::kit::{World, export, some_steps};
use crate::converge;

/// Merges one property into a stored ticket. Does not change its index rows.
fn merge(world: &World, row_key: &str, (name, value): (&str, ValueRef<'_>)) {
    let mut row = RowWriter::new();
    row.property(name, value);
    let (table, key) = (TableName::new("Desk").unwrap(), EntityKey::new("contoso", row_key).unwrap());
    let merge = [(key.row_key, OperationKind::Merge(row.finish(), IfMatch::Any))];
    block_on(converge::submit(world.store.inner(), &table, &key.partition_key, merge)).unwrap();
}

#[test]
fn an_entity_that_cannot_be_read_is_erased_with_its_remote_rows() {
    for row_key in ["ticket_000001", "ticket_000002", "ticket_000004", "agent_0001"] {
        for is_done in [false, true] {
            let world = World::after(&some_steps());
            if is_done {
                block_on(world.work()).unwrap();
            }
            let before = world.tickets_of("adatum");
            let name = if row_key.starts_with("agent") { "Name" } else { "Title" };
            merge(&world, row_key, (name, ValueRef::Int32(7)));
            block_on(world.tenant("contoso").erase()).unwrap();
            assert_eq!(block_on(world.tenant("contoso").remaining()).unwrap(), 0, "{row_key}");
            assert_erased(&world, &before);
        }
    }
}

#[test]
fn an_entity_that_cannot_be_read_delays_the_remote_rows_of_no_other_entity_of_an_import() {
    let (from, to) = (World::after(&some_steps()), World::new());
    block_on(from.work()).unwrap();
    let title = from.tickets_of("contoso")[0].0.title.clone();
    merge(&from, "ticket_000001", ("Title", ValueRef::Int32(7)));
    let tenant = to.tenant("contoso");
    let mut import = tenant.import();
    block_on(import.push(&export(&from.tenant("contoso")))).unwrap();
    for _ in 0..2 {
        let error = block_on(import.finish()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::EntityMismatch, "{error}");
        assert_eq!(error.key(), Some(("contoso", "ticket_000001")), "{error}");
        assert_eq!((to.in_topic("contoso", 2), to.in_topic("contoso", 0)), (2, 0));
    }
    merge(&to, "ticket_000001", ("Title", ValueRef::String(&title)));
    block_on(import.finish()).unwrap();
    assert_eq!((to.in_topic("contoso", 2), to.in_topic("contoso", 0), to.findings()), (2, 1, 0));
}

/// Tests a ticket that pages of the store omit, such as an entity with a date-time before 1601 on Azurite.
#[test]
fn a_row_that_pages_omit_is_counted_by_an_export_and_stops_an_erasure() {
    let world = World::after(&some_steps());
    block_on(world.work()).unwrap();
    let rows = block_on(world.tenant("contoso").count()).unwrap().rows();
    let is_ticket = |table: &TableName, key: &EntityKey| {
        table.as_str() == "Desk"
            && key.partition_key.as_str() == "contoso"
            && key.row_key.as_str() == "ticket_000001"
    };
    world.store.misread(("Title", ErrorCode::EntityMismatch), is_ticket);
    let tenant = world.tenant("contoso");
    assert_eq!(block_on(tenant.count()).unwrap().rows(), rows, "the row is counted");
    let mut export = tenant.export();
    while block_on(export.step()).unwrap().is_some() {}
    assert_eq!(export.position().skipped_rows(), 1);
    let error = block_on(tenant.erase()).unwrap_err();
    assert_eq!(error.key(), Some(("contoso", "ticket_000001")), "{error}");
    world.store.heal();
    block_on(tenant.erase()).unwrap();
    assert_eq!(block_on(tenant.remaining()).unwrap(), 0);
}
