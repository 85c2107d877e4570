//! Tests that the stored rows equal the rows published in the pattern catalogue, character by character.

use futures_util::TryStreamExt;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::schema::IndexKind;
use table_core::{Entity, IfMatch, TableStoreExt, Versioned};

use super::kit::{Records, expected, records, stored};
use crate::EntityStore;
use crate::index::fixture::{Employee, jones};

fn shown(rows: super::kit::Rows) -> String {
    let line = |((table, key), text): ((String, table_core::EntityKey), String)| {
        format!("{table:10} {:20} {:28} {text}\n", key.partition_key.as_str(), key.row_key.as_str())
    };
    rows.into_iter().map(line).collect()
}

/// Tests the catalogue's rows for employees with an index in their partition.
#[test]
fn pat_intra_and_ix_2_the_rows_of_an_indexed_insert() {
    #[derive(Clone, Debug, PartialEq, table_core::Entity)]
    #[entity(table = "Employee", crate = table_core)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    #[index_entity(ByLastName, at_most = 100, row_key("lastname_", last_name))]
    struct Employee {
        department: String,
        #[digits(6)]
        #[property("EmployeeId")]
        id: u32,
        first_name: String,
        last_name: String,
        age: i32,
        #[property("EmailAddress")]
        email: String,
    }
    block_on(async {
        let engine = Engine::in_memory();
        let employees = engine.entities::<Employee>().create_if_missing().await?;
        let jones = Employee {
            department: "Sales".to_owned(),
            id: 223,
            first_name: "Jane".to_owned(),
            last_name: "Jones".to_owned(),
            age: 32,
            email: "jonesj@contoso.com".to_owned(),
        };
        employees.insert(&jones).await?;
        let other = Employee { id: 152, email: "x@contoso.com".to_owned(), ..jones.clone() };
        employees.insert(&other).await?;
        insta::assert_snapshot!(shown(stored(&engine, &["Employee"]).await?));
        let plan = employees.table().plan(Employee::by_email("Sales", "jonesj@contoso.com"))?;
        let filter = plan.lookups.first().and_then(|lookup| lookup.filter.clone());
        assert_eq!(
            filter.as_deref(),
            Some("PartitionKey eq 'Sales' and RowKey eq 'email_jonesj@contoso.com'")
        );
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests the catalogue's rows for employees with indexes in other partitions, and point queries (PAT-INTER-1) and range queries (PAT-INTER-2).
#[test]
fn pat_inter_the_rows_of_a_settled_insert() {
    #[expect(
        clippy::duplicated_attributes,
        reason = "each index has separate attributes, which clippy mistakes for duplicates"
    )]
    #[derive(Clone, Debug, PartialEq, table_core::Entity)]
    #[entity(table = "Employee", crate = table_core)]
    #[partition_key(department)]
    #[row_key(id)]
    #[index(ById, unique, partition_key("empid_", department), row_key(id))]
    #[index(ByEmail, unique, partition_key("email_", department), row_key(email))]
    #[index_entity(Namesakes, at_most = 100, table = "LastNames", partition_key(last_name), row_key("all"))]
    struct Employee {
        department: String,
        #[digits(6)]
        #[property("EmployeeId")]
        id: u32,
        first_name: String,
        last_name: String,
        age: i32,
        #[property("EmailAddress")]
        email: String,
    }
    block_on(async {
        let engine = Engine::in_memory();
        let employees =
            engine.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
        let jones = Employee {
            department: "Sales".to_owned(),
            id: 223,
            first_name: "Jane".to_owned(),
            last_name: "Jones".to_owned(),
            age: 32,
            email: "jonesj@contoso.com".to_owned(),
        };
        employees.insert(&jones).await?;
        for (record, changes) in records::<Employee, _>(&engine, "Sales").await? {
            for change in changes {
                employees.settle(&change).await?;
            }
            engine.untyped("Employee")?.delete(&record, IfMatch::Any).await?;
        }
        insta::assert_snapshot!(shown(stored(&engine, &["Employee", "LastNames"]).await?));
        let filter = |plan: Result<table_core::query::Plan, table_core::Error>| {
            plan.unwrap().lookups.remove(0).filter.unwrap()
        };
        let table = employees.table();
        assert_eq!(
            [
                filter(table.plan(Employee::by_id("Sales", 223))),
                filter(table.plan(Employee::by_email("Sales", "jonesj@contoso.com"))),
                filter(table.plan(Employee::by_id_rows("Sales").id(100..=199))),
                filter(table.plan(Employee::by_email_rows("Sales").email("a".."b"))),
            ],
            [
                "PartitionKey eq 'empid_Sales' and RowKey eq '000223'",
                "PartitionKey eq 'email_Sales' and RowKey eq 'jonesj@contoso.com'",
                "PartitionKey eq 'empid_Sales' and RowKey ge '000100' and RowKey le '000199'",
                "PartitionKey eq 'email_Sales' and RowKey ge 'a' and RowKey lt 'b'",
            ]
        );
        for found in [
            employees.get_eventual(Employee::by_id("Sales", 223)).await?,
            employees.get_eventual(Employee::by_email("Sales", "jonesj@contoso.com")).await?,
        ] {
            assert_eq!(found.unwrap().possibly_stale(), &jones);
        }
        let ids = employees.query_eventual(Employee::by_id_rows("Sales").id(200..=299)).collect().await?;
        let emails =
            employees.query_eventual(Employee::by_email_rows("Sales").email("a".."b")).collect().await?;
        assert_eq!((ids.len(), emails.len()), (1, 0));

        // The copy in `empid_Sales` could be read as an entity of that department. Scans and checks must skip it.
        let all: Vec<_> = employees.scan("to see them").max_rows(10).stream().try_collect().await?;
        assert_eq!(all.iter().map(Versioned::value).collect::<Vec<_>>(), [&jones]);
        assert!(employees.check().run().await?.is_clean());
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn pat_inter_and_ix_3_the_rows_in_other_partitions() {
    let jones = Employee { badge: Some(7), ..jones() };
    insta::assert_snapshot!(shown(expected([&jones])));
    let lists = Employee::SCHEMA.indexes.iter().filter(|index| index.kind == IndexKind::List).count();
    assert_eq!(lists, 2);
}
