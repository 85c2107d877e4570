//! Tests renamed entity types. With `schema_name`, a type keeps its stored schema. Without it, the new name is rejected if the table contains rows.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::error::Error as _;

use pollster::block_on;
use table_core::schema::{Evolution, StoredSchema};
use table_core::table::LAYOUTS;
use table_core::{Engine, Entity, Error, ErrorCode, Selection, TableStoreExt};
use table_patterns::EntityStore;

/// The type used to write the rows.
mod employee {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub email: String,
    }
}

/// The renamed type. It keeps the original name for its stored schema.
mod kept {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Company", schema_name = "Employee")]
    #[partition_key(department)]
    #[row_key("empid_", number)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub(super) struct Staff {
        pub department: String,
        #[digits(6)]
        #[property("Id")]
        pub number: u32,
        pub email: String,
    }
}

/// The renamed type with the original schema name, but with more digits in its key.
mod kept_wider {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Company", schema_name = "Employee")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Staff {
        pub department: String,
        #[digits(8)]
        pub id: u32,
        pub email: String,
    }
}

/// The renamed type without the original schema name.
mod without_name {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub(super) struct Staff {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub email: String,
    }
}

/// The renamed type without the original schema name, with a renamed field and more digits in its key.
mod wider {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", number)]
    pub(super) struct Staff {
        pub department: String,
        #[digits(8)]
        pub number: u32,
        pub email: String,
    }
}

/// Unrelated types in the table. They differ from the renamed type in key literals, key parts, codecs or stored kinds.
mod others {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("visitor_", id)]
    pub(super) struct Visitor {
        pub department: String,
        #[digits(6)]
        pub id: u32,
    }

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id, "_", year)]
    pub(super) struct Review {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        #[digits(4)]
        pub year: u16,
    }

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", name)]
    pub(super) struct Alias {
        pub department: String,
        pub name: String,
    }

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Company", kind = "Contractor")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Contractor {
        pub department: String,
        #[digits(6)]
        pub id: u32,
    }
}

/// Returns a store with the schema of `Employee` and one row of this type.
async fn store() -> Engine {
    let store = Engine::in_memory();
    let employees = store.entities::<employee::Employee>().create_if_missing().await.unwrap();
    let (department, email) = ("Sales".to_owned(), "ada@contoso.com".to_owned());
    employees.insert(&employee::Employee { department, id: 223, email }).await.unwrap();
    store
}

/// Returns the names of the stored schemas.
async fn names(store: &Engine) -> Vec<String> {
    let rows =
        store.untyped(LAYOUTS).unwrap().query(Selection::partition("company")).collect().await.unwrap();
    rows.iter().map(|row| row.key().row_key.as_str().to_owned()).collect()
}

fn rules(error: &Error) -> Vec<&'static str> {
    let evolution = error.source().and_then(|source| source.downcast_ref::<Evolution>()).unwrap();
    evolution.changes.iter().map(|change| change.rule.id).collect()
}

#[test]
fn evo_32_a_renamed_type_with_its_schema_name_keeps_its_schema_and_indexes() {
    block_on(async {
        assert_eq!(StoredSchema::of(kept::Staff::SCHEMA).entity, "Employee");
        let store = store().await;
        let staff = store.entities::<kept::Staff>().create_if_missing().await.unwrap();
        let ada = staff.get(kept::Staff::by_email("Sales", "ada@contoso.com")).await.unwrap().unwrap();
        assert_eq!(ada.number, 223);
        assert_eq!(names(&store).await, ["Employee"]);
        // The declaration is compared with the stored schema.
        let error = store.table::<kept_wider::Staff>().create_if_missing().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-11")));
        // The program version from before the rename may run at the same time.
        store.entities::<employee::Employee>().create_if_missing().await.unwrap();
    });
}

#[test]
fn evo_32_a_renamed_type_is_refused_until_it_has_its_schema_name_or_is_accepted() {
    block_on(async {
        let store = store().await;
        let error = store.entities::<without_name::Staff>().create_if_missing().await.map(drop).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-32")));
        assert_eq!(
            error.to_string(),
            "SchemaMismatch: no schema of `Staff` is stored, and its keys have the form of the stored schema of `Employee`; if the type was \
             renamed, write `#[entity(schema_name = \"Employee\")]`; if it is another type, call `accept_schema` (table `Company`; rule EVO-32)"
        );
        assert_eq!(rules(&error), ["EVO-32"]);
        let error = store.table::<wider::Staff>().create_if_missing().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-11")));
        assert_eq!(rules(&error), ["EVO-32", "EVO-11", "EVO-21"]);
        assert_eq!(names(&store).await, ["Employee"], "nothing was stored");
        let staff = store.table::<without_name::Staff>();
        staff.accept_schema("staff are not employees").await.unwrap();
        let staff = staff.create_if_missing().await.unwrap();
        let record = staff.schema_record().await.unwrap().unwrap();
        assert_eq!(record.accepted.as_deref(), Some("staff are not employees (first schema stored)"));
        assert_eq!(record.pending, ["index ByEmail"]);
        assert_eq!(names(&store).await, ["Employee", "Staff"]);
        store.entities::<employee::Employee>().create_if_missing().await.unwrap();
    });
}

#[test]
fn other_types_share_the_table() {
    block_on(async {
        let store = store().await;
        let row = |key: &str| table_core::TableEntity::new("Sales", key).unwrap();
        let rows = store.untyped("Company").unwrap();
        for key in ["visitor_000001", "empid_000223_2026", "empid_Ada"] {
            rows.insert(&row(key)).await.unwrap();
        }
        store.table::<others::Visitor>().create_if_missing().await.unwrap();
        store.table::<others::Review>().create_if_missing().await.unwrap();
        store.table::<others::Alias>().create_if_missing().await.unwrap();
        store.table::<others::Contractor>().create_if_missing().await.unwrap();
        assert_eq!(names(&store).await, ["Alias", "Contractor", "Employee", "Review", "Visitor"]);
    });
}

#[test]
fn a_renamed_type_without_rows_is_a_first_schema() {
    block_on(async {
        let store = Engine::in_memory();
        store.entities::<employee::Employee>().create_if_missing().await.unwrap();
        let visitors = store.table::<others::Visitor>().create_if_missing().await.unwrap();
        visitors.insert(&others::Visitor { department: "Sales".to_owned(), id: 1 }).await.unwrap();
        store.table::<wider::Staff>().create_if_missing().await.unwrap();
        assert_eq!(names(&store).await, ["Employee", "Staff", "Visitor"]);
    });
}
