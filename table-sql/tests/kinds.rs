//! Tests that rows other than entities, such as internal rows and index rows, have no key parts.

mod common;

use std::collections::BTreeSet;

use common::{answer, texts};
use table_core::limits::Limits;
use table_core::query::KeyRange;
use table_core::schema::StoredSchema;
use table_core::table::LAYOUTS;
use table_core::{DynTableStore, Engine, Entity, FromEntity, Operation, OperationKind, Query};
use table_core::{TableEntity, TableName, TableStore, TableStoreExt, Transaction};
use table_inspect::kind::{self, Kind};
use table_inspect::{TypeSelection, keys};
use table_sql::{SqlOptions, session};

/// An entity whose keys can be any strings.
#[derive(Clone, Debug, Entity)]
#[entity(table = "People")]
#[partition_key(tenant)]
#[row_key(name)]
struct Person {
    tenant: String,
    name: String,
}

/// An entity whose row key begins with a literal and ends with any string.
#[derive(Clone, Debug, Entity)]
#[entity(table = "People", kind = "Pet")]
#[partition_key(tenant)]
#[row_key("pet_", pet)]
struct Pet {
    tenant: String,
    pet: String,
}

/// A schema in another table that stores an index in the table of [`Person`].
const DIRECTORY: &str = "schema 1\nentity Visitor\ntable Visitors\nPartitionKey visitor text 0..512 ordered legal\n\
    index ByCity copies\nindex ByCity table People\nindex ByCity PartitionKey \"cities\"\n\
    index ByCity RowKey \"city_\"\nindex ByCity RowKey City text 0..512 ordered legal\n\
    index ByCity RowKey \"_\"\nindex ByCity RowKey visitor text 0..512 ordered legal\n";

/// A schema this version cannot read. It does not refer to the table of [`Person`].
const LATER: &str =
    "schema 1\nentity Later\ntable Lates\nPartitionKey p text 0..512 ordered legal\nelsewhere Directory\n";

/// The row keys of internal rows.
const INTERNAL: [&str; 9] = [
    "feed_00000000000000000001",
    "feed_head",
    "outbox_0001",
    "poison_0001",
    "sequence_ticket",
    "guard_a",
    "reservation_1",
    "view_state",
    "copy_a",
];

async fn store() -> DynTableStore {
    let engine = Engine::in_memory();
    let people = engine.table::<Person>().create_if_missing().await.unwrap();
    let pets = engine.table::<Pet>().create_if_missing().await.unwrap();
    for tenant in ["a", "b", "cities"] {
        for name in ["ada", "ben", "pet_cleo"] {
            people.insert(&Person { tenant: tenant.into(), name: name.into() }).await.unwrap();
        }
        pets.insert(&Pet { tenant: tenant.into(), pet: "rex".into() }).await.unwrap();
    }
    let index = ["ada", "ben"].map(|visitor| ("cities", format!("city_Rome_{visitor}")));
    let internal = ["a", "b", "cities"].map(|tenant| INTERNAL.map(|row| (tenant, format!("\u{FFFC}{row}"))));
    for (partition, row) in index.into_iter().chain(internal.into_iter().flatten()) {
        let entity = TableEntity::new(partition, row).unwrap();
        let (name, key) = (TableName::new("People").unwrap(), entity.key().clone());
        let mut transaction = Transaction::new(key.partition_key, Limits::PORTABLE).unwrap();
        let kind = OperationKind::Insert(entity.to_row().unwrap());
        transaction.push(Operation { row_key: key.row_key, kind }).unwrap();
        engine.submit(&name, transaction).await.unwrap();
    }
    let layouts = engine.untyped(LAYOUTS).unwrap();
    for (table, entity, text) in [("visitors", "Visitor", DIRECTORY), ("lates", "Later", LATER)] {
        layouts.insert(&TableEntity::new(table, entity).unwrap().with("Schema", text)).await.unwrap();
    }
    DynTableStore::new(engine)
}

#[tokio::test]
async fn the_rows_with_the_parts_of_a_type_are_the_entities_that_the_command_selects() {
    let store = store().await;
    let name = TableName::new("People").unwrap();
    let schemas: Vec<(String, StoredSchema)> = keys::schemas_of_rows(&store, &name).await.unwrap();
    let page = store.query(&name, &Query::new(KeyRange::ALL), None).await.unwrap();
    let session = session(&store, &SqlOptions::default()).await.unwrap();
    for (entity, part) in [("Person", "name"), ("Pet", "pet")] {
        let selection = TypeSelection::new("People", &schemas, Some(entity), &[]).unwrap();
        let (mut selected, mut explained) = (BTreeSet::new(), BTreeSet::new());
        for row in page.rows.iter() {
            let (key, found) =
                (format!("{}/{}", row.partition_key, row.row_key), TableEntity::from_entity(row).unwrap());
            if selection.contains(row).unwrap() {
                selected.insert(key.clone());
            }
            if matches!(kind::of("People", &found, &schemas), Kind::Entity(schema) if schema.entity == entity)
            {
                explained.insert(key);
            }
        }
        assert_eq!(selected, explained);
        for condition in [
            format!("\"{part}\" IS NOT NULL"),
            format!("\"{part}\" >= ''"),
            format!("tenant >= '' AND \"{part}\" IS NOT NULL"),
            format!("tenant IN ('a', 'b', 'cities') AND \"{part}\" >= ''"),
        ] {
            let found: BTreeSet<String> = answer(&session, "People", &condition).await.into_iter().collect();
            assert_eq!(found, selected, "{condition}");
        }
    }
    let counts = texts(&session, "SELECT concat(count(*), '') FROM People WHERE tenant = 'a'").await;
    assert_eq!(counts, ["4"]);
}
