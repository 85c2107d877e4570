//! Tests stored schemas. The schema is stored when a table is first opened. Each later open compares it with the declaration.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::error::Error as _;

use futures_util::TryStreamExt;
use pollster::block_on;
use table_core::schema::{Compatibility, Evolution, StoredSchema, compare_schemas};
use table_core::table::LAYOUTS;
use table_core::{
    Engine, Entity, ErrorCode, IfMatch, Result, Selection, TableName, TableStore, TableStoreExt,
};

/// The first schema. The rows were written with it.
mod first {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub age: i32,
    }

    pub(super) fn ada() -> Employee {
        Employee { department: "Sales".to_owned(), id: 223, age: 36 }
    }
}

/// The first schema with an additional nickname. This change is compatible.
mod nickname {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", number)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub number: u32,
        pub nickname: Option<String>,
        pub age: i32,
    }
}

/// The first schema with an additional index, and with a wider type for the age. This change requires a backfill.
mod indexed {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByAge, row_key("age_", age, "_", id))]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub age: i64,
    }
}

/// The first schema, but with eight digits in the key. This change requires a rewrite of the rows.
mod eight {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(8)]
        pub id: u32,
        pub age: i32,
    }
}

/// A type that stores its value in chunks.
mod chunked {
    #[derive(table_core::Entity)]
    #[entity(table = "Photos")]
    #[partition_key(album)]
    #[row_key(id)]
    pub(super) struct Photo {
        pub album: String,
        #[digits(3)]
        pub id: u32,
        #[property(chunks)]
        pub data: Vec<u8>,
    }
}

/// The same type, but its value is stored as a single property.
mod plain {
    #[derive(table_core::Entity)]
    #[entity(table = "Photos")]
    #[partition_key(album)]
    #[row_key(id)]
    pub(super) struct Photo {
        pub album: String,
        #[digits(3)]
        pub id: u32,
        pub data: Vec<u8>,
    }
}

async fn stored(store: &Engine) -> Vec<(String, String)> {
    let query = store.untyped(LAYOUTS).unwrap().query(Selection::partition("company"));
    let found = query.collect().await.unwrap();
    let text = |value| match value {
        Some(table_core::Value::String(text)) => text,
        _ => String::new(),
    };
    found
        .into_iter()
        .map(|layout| (layout.key().row_key.as_str().to_owned(), text(layout.get("Fingerprint").cloned())))
        .collect()
}

#[test]
fn the_schema_is_stored_once_and_not_rewritten_if_unchanged() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        let table = store.table::<first::Employee>().open().await?;
        let fingerprint = first::Employee::SCHEMA.fingerprint().to_string();
        assert_eq!(stored(&store).await, [("Employee".to_owned(), fingerprint)]);
        let bag = store.untyped(LAYOUTS)?.get(Selection::point("company", "Employee")).await?.unwrap();
        table.insert(&first::ada()).await?;
        let table = table.open().await?;
        let again = store.untyped(LAYOUTS)?.get(Selection::point("company", "Employee")).await?.unwrap();
        assert_eq!(again.etag(), bag.etag(), "not written again");
        let layout = table.schema_record().await?.unwrap();
        assert_eq!(layout.schema, StoredSchema::of(first::Employee::SCHEMA));
        assert!(layout.pending.is_empty() && layout.accepted.is_none());
        // The schema table is an ordinary table in the store, but a listing of the program's tables omits it.
        let names: Vec<String> = store.tables("").map_ok(|name| name.to_string()).try_collect().await?;
        assert_eq!(names, ["Company"]);
        let names = store.list_tables("", None, 10).await?.names;
        assert_eq!(names.iter().map(TableName::as_str).collect::<Vec<_>>(), ["Company", LAYOUTS]);
        Ok(())
    })
}

#[test]
fn a_compatible_schema_replaces_the_old_one_and_can_be_reverted() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        store.table::<first::Employee>().open().await?.insert(&first::ada()).await?;
        let table = store.table::<nickname::Employee>().open().await?;
        assert_eq!(table.get(nickname::Employee::key("Sales", 223)).await?.unwrap().nickname, None);
        let layout = table.schema_record().await?.unwrap();
        assert_eq!(layout.schema, StoredSchema::of(nickname::Employee::SCHEMA));
        store.table::<first::Employee>().open().await?;
        Ok(())
    })
}

#[test]
fn pending_backfills_stay_recorded_across_openings() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        store.table::<first::Employee>().open().await?.insert(&first::ada()).await?;
        let table = store.table::<indexed::Employee>().open().await?;
        assert_eq!(table.schema_record().await?.unwrap().pending, ["index ByAge", "property Age"]);
        let table = table.open().await?;
        assert_eq!(table.schema_record().await?.unwrap().pending, ["index ByAge", "property Age"]);
        Ok(())
    })
}

#[test]
fn evo_6_a_widened_number_is_read_but_misfiltered_until_it_is_rewritten() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        let old = store.table::<first::Employee>().open().await?;
        old.insert(&first::ada()).await?;
        let new = store.table::<indexed::Employee>().open().await?;
        let read = new.get(indexed::Employee::key("Sales", 223)).await?.unwrap();
        assert_eq!(read.age, 36); // ENG-12
        let adults = || {
            let partition = indexed::Employee::partition("Sales");
            new.query(partition).filter(indexed::Employee::AGE.ge(30_i64))
        };
        assert_eq!(adults().collect().await?.len(), 0, "FIL-16");

        let mut row = store
            .untyped("Company")?
            .get(Selection::point("Sales", "empid_000223"))
            .await?
            .unwrap()
            .into_value();
        row.insert("Age", 36_i64);
        store.untyped("Company")?.replace(&row, IfMatch::Any).await?;
        assert_eq!(adults().collect().await?.len(), 1);
        Ok(())
    })
}

/// Entities that were written as `wide` and are read as `narrow`. It omits one property, makes another optional, and allows the separator in its text.
mod narrow {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Rooms")]
    #[partition_key(team)]
    #[row_key("row")]
    pub(crate) struct Row {
        pub team: String,
        pub age: Option<i32>,
    }
}

mod wide {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Rooms")]
    #[partition_key(team)]
    #[row_key("row")]
    pub(crate) struct Row {
        #[without('_')]
        pub team: String,
        pub age: i32,
        pub room: String,
    }
}

#[test]
fn evo_3_and_4_and_12_old_rows_are_read() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        let old = wide::Row { team: "a".to_owned(), age: 36, room: "7".to_owned() };
        store.table::<wide::Row>().open().await?.insert(&old).await?;
        let evolution =
            compare_schemas(&StoredSchema::of(wide::Row::SCHEMA), &StoredSchema::of(narrow::Row::SCHEMA));
        let rules: Vec<_> = evolution.changes.iter().map(|change| change.rule.id).collect();
        assert_eq!(
            (evolution.compatibility(), rules),
            (Compatibility::Compatible, vec!["EVO-12", "EVO-3", "EVO-4"])
        );
        let table = store.table::<narrow::Row>().open().await?;
        let read = table.get(narrow::Row::key("a")).await?.unwrap();
        assert_eq!((read.team.as_str(), read.age), ("a", Some(36)));
        Ok(())
    })
}

/// Tests a program without chunks on a table whose values another program stores in chunks. The table must be rejected. The program would mistake the first
/// chunk for the entire value, and would replace only that chunk.
#[test]
fn evo_33_and_34_a_program_without_chunks_does_not_use_chunks_of_another() -> Result<()> {
    block_on(async {
        let data = vec![7; 150_000];
        let store = Engine::in_memory();
        let photos = store.table::<chunked::Photo>().open().await?;
        photos.insert(&chunked::Photo { album: "a".into(), id: 1, data: data.clone() }).await?;
        let error = store.table::<plain::Photo>().open().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-33")));

        let store = Engine::in_memory();
        let older = store.table::<plain::Photo>().open().await?;
        older.insert(&plain::Photo { album: "a".into(), id: 1, data: data[..65_536].to_vec() }).await?;
        let newer = store.table::<chunked::Photo>().open().await?;
        assert_eq!(newer.get(chunked::Photo::key("a", 1)).await?.unwrap().data, data[..65_536]);
        let error = store.table::<plain::Photo>().open().await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch);
        Ok(())
    })
}

#[test]
fn an_index_is_pending_on_every_table_that_another_program_may_write() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        let table = store.table::<indexed::Employee>().open().await?;
        assert!(table.schema_record().await?.unwrap().pending.is_empty(), "a new table");

        let store = Engine::in_memory();
        store.table::<first::Employee>().create_if_missing().await?;
        let table = store.table::<indexed::Employee>().open().await?;
        let pending = table.schema_record().await?.unwrap().pending;
        assert_eq!(pending, ["index ByAge", "property Age"], "an empty table");

        let store = Engine::in_memory();
        store.create_table_if_missing(&TableName::new("Company")?).await?;
        store.table::<first::Employee>().insert(&first::ada()).await?;
        let table = store.table::<indexed::Employee>().open().await?;
        assert_eq!(table.schema_record().await?.unwrap().pending, ["index ByAge"]);
        Ok(())
    })
}

#[test]
fn a_mismatch_names_the_verdict_and_the_rule_and_changes_nothing() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        store.table::<first::Employee>().open().await?.insert(&first::ada()).await?;
        let before = stored(&store).await;
        let error = store.table::<eight::Employee>().open().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-11")));
        assert_eq!(
            error.to_string(),
            "SchemaMismatch: the stored schema of `Employee` is incompatible with the program's: needs rewrite; if the rows have \
             been rewritten already, call `accept_schema` (table `Company`; rule EVO-11)"
        );
        assert_eq!(
            format!("{error:?}"),
            format!(
                "{error}\n  because: needs rewrite\n  EVO-11 needs rewrite: RowKey, `id`: digits(6) of 6 becomes digits(8) of 8; \
                 old rows are stored under other keys, and some values may not fit: copy every row to its new key, then delete the \
                 old one"
            )
        );
        let evolution = error.source().and_then(|source| source.downcast_ref::<Evolution>()).unwrap();
        assert_eq!(evolution.compatibility(), Compatibility::NeedsRewrite);
        assert_eq!(stored(&store).await, before);
        Ok(())
    })
}

#[test]
fn an_accepted_schema_states_the_reason() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        let old = store.table::<first::Employee>().open().await?;
        old.insert(&first::ada()).await?;
        let new = store.table::<eight::Employee>();
        new.insert(&eight::Employee { department: "Sales".to_owned(), id: 223, age: 36 }).await?;
        old.delete(first::Employee::key("Sales", 223), IfMatch::Any).await?;
        assert!(store.table::<eight::Employee>().open().await.is_err());
        new.accept_schema("rewritten in May").await?;
        let new = new.open().await?;
        let layout = new.schema_record().await?.unwrap();
        assert_eq!(layout.accepted.as_deref(), Some("rewritten in May (needs rewrite: EVO-11)"));
        assert_eq!(layout.schema, StoredSchema::of(eight::Employee::SCHEMA));
        Ok(())
    })
}

#[test]
fn an_empty_table_accepts_any_schema() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        store.table::<first::Employee>().open().await?;
        store.table::<eight::Employee>().open().await?;
        Ok(())
    })
}

#[test]
fn a_deleted_table_has_no_schema() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        let table = store.table::<first::Employee>().open().await?;
        assert!(table.delete_table().await?);
        assert_eq!(stored(&store).await, []);

        // A delete through the store leaves the schema behind. The next handle creates the table again, and ignores the old schema.
        let table = table.open().await?;
        let name = table.name()?.clone();
        store.delete_table(&name).await?;
        let table = store.table::<eight::Employee>().open().await?;
        assert_eq!(table.schema_record().await?.unwrap().schema, StoredSchema::of(eight::Employee::SCHEMA));
        Ok(())
    })
}

#[test]
fn a_table_opened_under_another_name_has_its_own_schema() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        store.table::<first::Employee>().open().await?;
        let archive = store.table_named::<eight::Employee>("Archive")?.open().await?;
        assert_eq!(archive.schema_record().await?.unwrap().schema.table, "Archive");
        Ok(())
    })
}

#[test]
fn a_schema_that_cannot_be_read_stops_the_program() -> Result<()> {
    block_on(async {
        let store = Engine::in_memory();
        store.table::<first::Employee>().open().await?;
        let layouts = store.untyped(LAYOUTS)?;
        let mut stored = layouts.get(Selection::point("company", "Employee")).await?.unwrap().into_value();
        stored.insert("Schema", "schema 2\n");
        layouts.insert_or_replace(&stored).await?;
        let error = store.table::<first::Employee>().open().await.unwrap_err();
        assert_eq!((error.code(), error.table()), (ErrorCode::FormatTooNew, Some(LAYOUTS)));
        stored.insert("Schema", "entity Employee\n");
        layouts.insert_or_replace(&stored).await?;
        let error = store.table::<first::Employee>().open().await.unwrap_err();
        assert_eq!((error.code(), error.key()), (ErrorCode::Corrupted, Some(("company", "Employee"))));
        Ok(())
    })
}

#[test]
fn programs_that_open_at_once_agree() {
    let store = Engine::in_memory();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| block_on(store.table::<first::Employee>().open()).unwrap());
        }
    });
    assert_eq!(block_on(stored(&store)).len(), 1);
}

#[test]
fn the_schema_outlives_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Engine::open(folder.path()).unwrap();
    block_on(async { open().table::<first::Employee>().open().await?.insert(&first::ada()).await }).unwrap();
    let error = block_on(open().table::<eight::Employee>().open()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::SchemaMismatch);
}

#[test]
fn creating_an_existing_table_checks_its_schema() {
    let store = Engine::in_memory();
    block_on(async {
        store.table::<first::Employee>().create_if_missing().await?.insert(&first::ada()).await?;
        let error = store.table::<eight::Employee>().create_if_missing().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-11")));
        let pending = store.table::<indexed::Employee>().create_if_missing().await?;
        assert_eq!(pending.schema_record().await?.unwrap().pending, ["index ByAge", "property Age"]);
        // An untyped table has no schema to compare with.
        store.untyped("Company")?.create_if_missing().await?;
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}
