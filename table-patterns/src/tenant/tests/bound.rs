//! Tests imports of rows that contain their old PartitionKey into a partition with a different name.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::{Entity, ErrorCode, ValueRef};

use super::kit::{Step, World, export, import, some_steps};
use crate::EntityStore;
use crate::converge;

/// A note, whose index entries contain the tenant.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("note_", id)]
#[index(ByTenant, row_key("by_", tenant, "_", id))]
struct Note {
    #[without('_')]
    tenant: String,
    #[digits(4)]
    id: u32,
    text: String,
}

/// Returns a help desk without recorded steps.
fn settled() -> World {
    let mut steps = some_steps();
    steps.push((true, Step::Work));
    World::after(&steps)
}

fn desk() -> TableName {
    TableName::new("Desk").unwrap()
}

/// Writes a row of an unregistered type to the partition of `contoso`.
fn put(engine: &Engine, row_key: &str, text: &str) {
    let mut row = RowWriter::new();
    row.property("Text", ValueRef::String(text));
    let EntityKey { partition_key, row_key } = EntityKey::new("contoso", row_key).unwrap();
    let write = [(row_key, OperationKind::Insert(row.finish()))];
    block_on(converge::submit(engine, &desk(), &partition_key, write)).unwrap();
}

#[test]
fn an_untyped_row_that_contains_the_name_of_its_partition_is_imported_only_under_this_name() {
    for (row_key, text, is_refused) in [
        ("memo_1", "It beeps.", false),
        ("memo_contoso_1", "It beeps.", true),
        ("memo_1", "It beeps at contoso.", true),
    ] {
        let world = settled();
        put(world.store.inner(), row_key, text);
        let lines = export(&world.tenant("contoso"));
        import(&World::new().tenant("contoso"), &lines).unwrap();
        let moved = import(&world.tenant("fabrikam"), &lines);
        assert_eq!(moved.is_err(), is_refused, "{row_key}: {moved:?}");
        if let Err(error) = moved {
            assert_eq!(error.code(), ErrorCode::InvalidInput);
            assert!(error.message().contains("register its type"), "{error}");
            assert!(error.to_string().contains(row_key), "{error}");
        }
    }
}

#[test]
fn the_address_of_a_blob_in_an_untyped_row_is_adapted() {
    let world = settled();
    let file =
        world.tickets_of("contoso").into_iter().find_map(|(ticket, _)| ticket.file).unwrap().to_string();
    put(world.store.inner(), "memo_1", &file);
    import(&world.tenant("fabrikam"), &export(&world.tenant("contoso"))).unwrap();
    let key = EntityKey::new("fabrikam", "memo_1").unwrap();
    let found = block_on(world.store.inner().get(&desk(), &key, &Select::All)).unwrap().unwrap();
    let moved = file.replace("contoso", "fabrikam");
    assert_eq!(found.row.view().find("Text", &mut 0).unwrap(), Some(ValueRef::String(&moved)));
}

#[test]
fn index_rows_that_contain_the_name_of_the_partition_are_refused_whether_their_type_is_registered_or_not() {
    for is_registered in [false, true] {
        let world = settled();
        let notes = block_on(world.store.entities::<Note>().create_if_missing()).unwrap();
        let note = Note { tenant: "contoso".into(), id: 1, text: "It beeps.".into() };
        block_on(notes.insert(&note)).unwrap();
        let tenant = |name: &str| {
            let tenant = world.tenant(name);
            if !is_registered {
                return tenant;
            }
            tenant.with_entities(&notes, Note::partition(name)).unwrap()
        };
        let error = import(&tenant("fabrikam"), &export(&tenant("contoso"))).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
        let part = if is_registered { "`ByTenant`" } else { "by_contoso_0001" };
        assert!(error.to_string().contains(part), "{error}");
    }
}
