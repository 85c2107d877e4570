//! Tests the documented limits for two releases that write the same items, where only the later release has a path for a property.

use serde_json::{Value as Json, json};
use table_core::filter::Filter;
use table_core::query::{KeyRange, Query, Select};
use table_core::row::{Row, RowWriter};
use table_core::{
    Entity, EntityKey, ErrorCode, IfMatch, OperationKind, TableName, TableStore, TableStoreExt, ValueRef,
};
use table_cosmos::emulator::Emulator;
use table_cosmos::{CosmosTables, Format, Mapping, Options};

use crate::operation::transaction;
use crate::runtime;

#[derive(Clone, Debug, Entity)]
#[entity(table = "Things")]
#[partition_key(owner)]
#[row_key(id)]
struct Thing {
    owner: String,
    id: String,
    count: i32,
}

/// A fixture: a container, and the stores of the two releases. The earlier release has no path for the property `Count`.
struct World {
    account: Emulator,
    table: TableName,
    earlier: CosmosTables,
    later: CosmosTables,
}

/// A row with the properties `Name` and `Count`, either of which may be absent.
type Properties = (Option<&'static str>, Option<i32>);

fn row((name, count): Properties) -> Row {
    let mut row = RowWriter::new();
    if let Some(count) = count {
        row.property("Count", ValueRef::Int32(count));
    }
    if let Some(name) = name {
        row.property("Name", ValueRef::String(name));
    }
    row.finish()
}

impl World {
    async fn new(level: &str, mapping: fn() -> Mapping) -> Self {
        let (account, table) = (Emulator::new(false).unwrap(), TableName::new("Things").unwrap());
        account.create_with_paths(&table, &[level], 1, None).unwrap();
        let open = async |mapping| {
            let options = Options::new().mapping("Things", mapping).unwrap();
            account.open(options).await.unwrap()
        };
        let earlier = open(mapping()).await;
        let later = open(mapping().property("Count", "/count", Format::Int32)).await;
        Self { account, table, earlier, later }
    }

    async fn write(&self, store: &CosmosTables, kind: fn(Row) -> OperationKind, properties: Properties) {
        let write = transaction(store, [("a".to_owned(), kind(row(properties)))]);
        store.submit(&self.table, write).await.unwrap();
    }

    /// Returns the `Count` property as a release reads it.
    async fn count(&self, store: &CosmosTables) -> Option<i32> {
        let key = EntityKey::new("p", "a").unwrap();
        let found = store.get(&self.table, &key, &Select::All).await.unwrap().unwrap();
        match found.row.view().find("Count", &mut 0).unwrap() {
            Some(ValueRef::Int32(count)) => Some(count),
            other => other.map(|other| panic!("{other:?}")),
        }
    }

    async fn matches(&self, store: &CosmosTables, filter: &str) -> usize {
        let filter = Filter::parse(filter).unwrap();
        let query = Query { filter, ..Query::new(KeyRange::partition("p")) };
        store.query(&self.table, &query, None).await.unwrap().rows.len()
    }

    async fn item(&self) -> Json {
        let key = [("x-ms-documentdb-partitionkey".to_owned(), r#"["p"]"#.to_owned())];
        let target = "/dbs/tables/colls/Things/docs/a";
        let answer = self.account.exchange("GET", target, key, Vec::new()).await.unwrap();
        serde_json::from_slice(&answer.body).unwrap()
    }
}

fn merge(row: Row) -> OperationKind {
    OperationKind::Merge(row, IfMatch::Any)
}

fn replace(row: Row) -> OperationKind {
    OperationKind::Replace(row, IfMatch::Any)
}

/// Tests that the release without the path neither reads nor changes the value at the path, and that the later release does not read the value written by the
/// earlier one.
#[test]
fn wire_6_a_value_of_a_release_without_the_path_is_hidden_and_then_removed() {
    runtime().block_on(async {
        let world = World::new("/owner", || Mapping::new(["/owner"])).await;
        world.write(&world.later, OperationKind::Insert, (Some("x"), Some(1))).await;
        assert_eq!(world.count(&world.earlier).await, None, "it does not read the value at the path");
        assert_eq!(world.matches(&world.earlier, "Count eq 1").await, 0);
        let error = world.earlier.table::<Thing>().get(Thing::key("p", "a")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::EntityMismatch, "a required property is absent: {error}");
        assert_eq!(world.later.table::<Thing>().get(Thing::key("p", "a")).await.unwrap().unwrap().count, 1);

        world.write(&world.earlier, merge, (None, Some(2))).await;
        let item = world.item().await;
        assert_eq!((&item["count"], &item["_tables"]["p"]["Count"]), (&json!(1), &json!(2)));
        assert_eq!((world.count(&world.earlier).await, world.count(&world.later).await), (Some(2), Some(1)));
        assert_eq!(world.matches(&world.later, "Count eq 1").await, 1);
        assert_eq!(world.matches(&world.later, "Count eq 2").await, 0);

        world.write(&world.later, merge, (Some("y"), None)).await;
        assert_eq!(world.item().await["_tables"]["p"], json!({"Name": "y"}));
        assert_eq!((world.count(&world.earlier).await, world.count(&world.later).await), (None, Some(1)));

        // A replace without the property does not remove the value at the path either.
        world.write(&world.earlier, replace, (Some("z"), None)).await;
        assert_eq!(world.count(&world.later).await, Some(1));
    });
}

/// Tests that in the standard format, whose items belong to this library, a write of the release without the path removes the value at the path.
#[test]
fn wire_6_in_the_standard_format_a_release_without_the_path_removes_its_value() {
    runtime().block_on(async {
        for change in [merge, replace, OperationKind::InsertOrMerge, OperationKind::InsertOrReplace] {
            let world = World::new("/l1", || Mapping::standard(1)).await;
            world.write(&world.later, OperationKind::Insert, (Some("x"), Some(1))).await;
            assert_eq!((world.count(&world.earlier).await, world.count(&world.later).await), (None, Some(1)));
            world.write(&world.earlier, change, (Some("y"), None)).await;
            assert_eq!(world.count(&world.later).await, None);
            world.write(&world.earlier, change, (Some("y"), Some(2))).await;
            assert_eq!(
                (world.count(&world.earlier).await, world.count(&world.later).await),
                (Some(2), Some(2))
            );
        }
    });
}

/// Tests that the later release reads the earlier release's values if the earlier one is stopped before the later one writes.
#[test]
fn wire_6_no_value_is_lost_if_the_release_without_the_path_has_stopped() {
    runtime().block_on(async {
        for (level, mapping) in
            [("/owner", (|| Mapping::new(["/owner"])) as fn() -> Mapping), ("/l1", || Mapping::standard(1))]
        {
            let world = World::new(level, mapping).await;
            world.write(&world.earlier, OperationKind::Insert, (Some("x"), Some(1))).await;
            world.write(&world.earlier, merge, (None, Some(2))).await;
            assert_eq!(world.count(&world.later).await, Some(2));
            assert_eq!(world.matches(&world.later, "Count eq 2").await, 1);
            world.write(&world.later, merge, (Some("y"), None)).await;
            let item = world.item().await;
            assert_eq!((&item["count"], &item["p"]["Count"]), (&json!(2), &Json::Null), "{item}");
            assert_eq!(world.count(&world.later).await, Some(2));
        }
    });
}
