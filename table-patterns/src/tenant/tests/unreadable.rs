//! Tests tenants with an unreadable entity. Another tool has written one of the entity's properties with a different type.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::{Entity, ErrorCode, ValueRef};

use super::assert_erased;
use super::kit::{Step, World, export, some_steps};
use super::schemas::{assert_complete, of, v1, v2, with_old_rows};
use crate::EntityStore;
use crate::converge;
use crate::copies::REFERENCE_PREFIX;
use crate::feed::FEEDS;
use crate::outbox::OUTBOX_PREFIX;
use crate::outbox::registry::{REGISTRY, is_erased};
use crate::tenant::Tenant;
use crate::tests::faults::FaultyStore;

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

/// Returns `true` for the row `row_key` of `contoso`.
fn is_of_contoso(table: &TableName, key: &EntityKey, row_key: &str) -> bool {
    (table.as_str(), key.partition_key.as_str(), key.row_key.as_str()) == ("Desk", "contoso", row_key)
}

/// Returns `true` for the first ticket of `contoso`.
fn is_first_ticket(table: &TableName, key: &EntityKey) -> bool {
    is_of_contoso(table, key, "ticket_000001")
}

/// Tests an entity that pages of the store omit, such as an entity with a date-time before 1601 on Azurite. An erasure deletes it if the store returns its key,
/// and if it holds no copies. The source of a ticket's copies could have a reference in another partition.
#[test]
fn a_row_that_pages_omit_is_counted_by_an_export_and_erased_by_its_key() {
    for (row_key, property, is_erased) in [
        ("agent_0001", "Name", true),
        ("agent_0001", "RowKey", false),
        ("ticket_000001", "Title", false),
        ("ticket_000001", "RowKey", false),
    ] {
        let world = World::after(&some_steps());
        block_on(world.work()).unwrap();
        let before = world.tickets_of("adatum");
        let tenant = world.tenant("contoso");
        let rows = block_on(tenant.count()).unwrap().rows();
        world.store.misread((property, ErrorCode::EntityMismatch), move |table, key| {
            is_of_contoso(table, key, row_key)
        });
        assert_eq!(block_on(tenant.count()).unwrap().rows(), rows, "the row is counted");
        let mut export = tenant.export();
        while block_on(export.step()).unwrap().is_some() {}
        assert_eq!(export.position().skipped_rows(), 1);
        let erased = block_on(tenant.erase());
        assert_eq!(erased.is_ok(), is_erased, "{row_key}, {property}: {erased:?}");
        let remaining = block_on(tenant.remaining()).unwrap();
        assert_eq!(remaining == 0, is_erased, "{row_key}, {property}: {remaining} remain");
        world.store.heal();
        if !is_erased {
            block_on(tenant.erase()).unwrap();
        }
        assert_erased(&world, &before);
    }
}

/// Tests steps and references that pages omit. They name rows elsewhere, so an erasure that deleted them could leave these rows.
#[test]
fn an_erasure_fails_over_steps_and_references_that_pages_omit() {
    for prefix in [OUTBOX_PREFIX, REFERENCE_PREFIX] {
        let world = World::after(&some_steps());
        let before = world.tickets_of("adatum");
        // Another tool has deleted a holder of copies. An erasure of the holder would delete the reference by its key.
        world.delete_row("Desk", "contoso", "ticket_000001");
        world.store.misread(("Content", ErrorCode::EntityMismatch), move |_, key| {
            key.partition_key.as_str() == "contoso" && key.row_key.as_str().starts_with(prefix)
        });
        let tenant = world.tenant("contoso");
        let error = block_on(tenant.erase()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::UpdateConditionNotSatisfied, "{prefix}: {error}");
        assert_eq!(error.table(), Some("Desk"), "{prefix}: {error}");
        let is_named = |(of, row_key): (&str, &str)| of == "contoso" && row_key.starts_with(prefix);
        assert!(error.key().is_some_and(is_named), "{prefix}: {error}");
        assert!(block_on(tenant.remaining()).unwrap() > 0);
        world.store.heal();
        block_on(tenant.erase()).unwrap();
        assert_erased(&world, &before);
    }
}

/// Tests rows of remote indexes that pages omit. They may contain entries of the tenant.
#[test]
fn an_erasure_reports_the_rows_of_remote_indexes_that_pages_omit() {
    for (property, unreadable, skipped) in [("Members", 3, 0), ("RowKey", 0, 3)] {
        let mut steps = some_steps();
        // No ticket of `contoso` is in the list of this topic.
        steps.push((false, Step::Insert { title: 1, topic: 1, agent: None, file: None }));
        let world = World::after(&steps);
        block_on(world.work()).unwrap();
        let before = world.tickets_of("adatum");
        world.store.misread((property, ErrorCode::Corrupted), |table, key| {
            table.as_str() == "Topics" && key.row_key.as_str() == "all"
        });
        let tenant = world.tenant("contoso");
        for _ in 0..2 {
            let erased = block_on(tenant.erase()).unwrap();
            assert_eq!((erased.unreadable.len(), erased.skipped), (unreadable, skipped), "{property}");
            let in_topics = erased.unreadable.iter().all(|row| row.index == "Topics" && row.reason.is_some());
            assert!(in_topics, "{:?}", erased.unreadable);
            assert_eq!(block_on(tenant.remaining()).unwrap(), 3, "{property}");
        }
        world.store.heal();
        assert_eq!(block_on(tenant.erase()).unwrap().skipped, 0);
        assert_erased(&world, &before);
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Rooms", feed)]
#[partition_key(tenant, floor)]
#[row_key("room_", number)]
struct Room {
    tenant: String,
    floor: u8,
    number: u32,
}

/// Tests registrations of feeds that pages omit, for a tenant that consists of several partitions. The key of a registration is sufficient to delete it.
#[test]
fn an_erasure_deletes_registrations_that_pages_omit() {
    for (property, registrations, skipped) in [("Table", 2, 0), ("RowKey", 0, 2)] {
        let store = FaultyStore::new(Engine::in_memory());
        let rooms = block_on(store.entities::<Room>().create_if_missing()).unwrap();
        for (tenant, floor) in [("contoso", 1), ("contoso", 2), ("adatum", 1)] {
            block_on(rooms.insert(&Room { tenant: tenant.into(), floor, number: 7 })).unwrap();
        }
        let (feed, table) = (rooms.feed(), rooms.table().name().unwrap());
        let all = block_on(feed.partitions(table)).unwrap();
        store.misread((property, ErrorCode::EntityMismatch), |table, key| {
            table.as_str() == FEEDS && key.row_key.as_str().starts_with("contoso")
        });
        if skipped == 0 {
            assert_eq!(block_on(feed.partitions(table)).unwrap(), all);
        }
        let tenant = Tenant::new().with_entities(&rooms, Room::within("contoso")).unwrap();
        let erased = block_on(tenant.erase()).unwrap();
        assert_eq!((erased.registrations, erased.skipped), (registrations, skipped), "{property}");
        assert_eq!(block_on(tenant.remaining()).unwrap(), skipped, "{property}");
        store.heal();
        block_on(tenant.erase()).unwrap();
        assert_eq!(block_on(feed.partitions(table)).unwrap().len(), 1);
    }
}

/// Tests a registration that the store cannot represent, for a tenant of one partition. The registration of an outbox can be read once it is marked as erased.
#[test]
fn an_erasure_deletes_or_marks_a_registration_that_cannot_be_read() {
    for registry in [FEEDS, REGISTRY] {
        for (property, registrations, skipped) in [("Table", 2, 0), ("RowKey", 1, 1)] {
            let world = World::after(&some_steps());
            let before = world.tickets_of("adatum");
            let engine = world.store.inner().clone();
            world.store.misread((property, ErrorCode::EntityMismatch), move |table, key| {
                let is_registration = table.as_str() == registry
                    && key.partition_key.as_str().starts_with("desk_")
                    && key.row_key.as_str() == "contoso";
                is_registration
                    && block_on(engine.get(table, key, &Select::All))
                        .unwrap()
                        .is_some_and(|row| !is_erased(row.row.view()))
            });
            let tenant = world.tenant("contoso");
            let erased = block_on(tenant.erase()).unwrap();
            let at = format!("{registry}, {property}");
            assert_eq!((erased.registrations, erased.skipped), (registrations, skipped), "{at}");
            assert_eq!(block_on(tenant.remaining()).unwrap(), skipped, "{at}");
            world.store.heal();
            block_on(tenant.erase()).unwrap();
            assert_erased(&world, &before);
        }
    }
}

#[test]
fn an_import_does_not_finish_over_rows_whose_keys_are_unknown() {
    let (from, to) = (World::after(&some_steps()), World::new());
    block_on(from.work()).unwrap();
    let tenant = to.tenant("contoso");
    let mut import = tenant.import();
    block_on(import.push(&export(&from.tenant("contoso")))).unwrap();
    to.store.misread(("RowKey", ErrorCode::EntityMismatch), is_first_ticket);
    for _ in 0..2 {
        let error = block_on(import.finish()).unwrap_err();
        assert_eq!((error.code(), error.table()), (ErrorCode::EntityMismatch, Some("Desk")), "{error}");
        assert_eq!((to.in_topic("contoso", 2), to.in_topic("contoso", 0)), (2, 0));
    }
    to.store.heal();
    block_on(import.finish()).unwrap();
    assert_eq!((to.in_topic("contoso", 2), to.in_topic("contoso", 0), to.findings()), (2, 1, 0));
}

#[test]
fn a_copy_reports_the_rows_that_the_source_omits() {
    let (from, to) = (World::after(&some_steps()), World::new());
    block_on(from.work()).unwrap();
    from.store.misread(("RowKey", ErrorCode::EntityMismatch), |table, key| {
        table.as_str().starts_with("DeskAudit") && key.partition_key.as_str() == "contoso"
    });
    let copied = block_on(from.tenant("contoso").copy_to(&to.tenant("contoso"))).unwrap();
    assert_eq!(copied.skipped_rows, 4);
    from.store.heal();
    let to = World::new();
    let copied = block_on(from.tenant("contoso").copy_to(&to.tenant("contoso"))).unwrap();
    assert_eq!(copied.skipped_rows, 0);
}

/// Tests entities that may lack index rows in their own partition, because an earlier release wrote the export.
#[test]
fn pat_intra_5_an_import_does_not_finish_over_entities_that_may_lack_index_rows() {
    let (_, docs) = with_old_rows(["a", "b", "c"]);
    let text = export(&of(&docs, v1::Doc::partition("contoso")));
    for (property, key) in [("Title", Some(("contoso", "doc_000002"))), ("RowKey", None)] {
        let store = FaultyStore::new(Engine::in_memory());
        let to = block_on(store.entities::<v2::Doc>().create_if_missing()).unwrap();
        let tenant = of(&to, v2::Doc::partition("contoso"));
        let mut import = tenant.import();
        block_on(import.push(&text)).unwrap();
        store.misread((property, ErrorCode::EntityMismatch), |_, key| key.row_key.as_str() == "doc_000002");
        let error = block_on(import.finish()).unwrap_err();
        assert_eq!((error.code(), error.key()), (ErrorCode::EntityMismatch, key), "{error}");
        assert_eq!(error.table(), Some("Docs"), "{error}");
        store.heal();
        block_on(import.finish()).unwrap();
        assert_complete(&block_on(store.inner().entities::<v2::Doc>().create_if_missing()).unwrap());
    }
}
