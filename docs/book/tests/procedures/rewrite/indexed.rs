//! Tests the procedure for rewriting the rows of an entity that has an index.

use std::pin::pin;

use futures_util::TryStreamExt;
use table_patterns::{Engine, EntityStore as _, Result, TableStoreExt as _};

use crate::page::Procedure;

mod released {
    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
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

/// The declarations used by the program that rewrites the rows.
mod rewriting {
    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", set = Rewrite)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub(super) struct OldEmployee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub email: String,
    }

    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", set = Rewrite)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub(super) struct Employee {
        pub department: String,
        #[digits(8)]
        pub id: u32,
        pub email: String,
    }

    impl From<OldEmployee> for Employee {
        fn from(OldEmployee { department, id, email }: OldEmployee) -> Self {
            Self { department, id, email }
        }
    }

    #[derive(table_patterns::EntitySet)]
    pub(super) enum Rewrite {
        #[upgrade(from = OldEmployee)]
        Employee(Employee),
        #[other]
        Other(table_patterns::TableEntity),
    }
}

mod next {
    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub(super) struct Employee {
        pub department: String,
        #[digits(8)]
        pub id: u32,
        pub email: String,
    }
}

const EMPLOYEES: u32 = 1_200;

fn employee(id: u32) -> released::Employee {
    released::Employee {
        department: format!("department {}", id % 7),
        id,
        email: format!("e{id}@contoso.com"),
    }
}

/// Rewrites at most `most` employees. Returns the number of employees that were rewritten.
async fn rewrite(store: &Engine, most: usize) -> Result<usize> {
    let old = store.entities::<rewriting::OldEmployee>();
    let new = store.entities::<rewriting::Employee>().assume_indexes_ready();
    let (mut rows, mut count) = (pin!(old.scan("8 digits").max_rows(100_000).stream()), 0);
    while count < most
        && let Some(row) = rows.try_next().await?
    {
        let employee = rewriting::Employee::from(row.clone().into_value());
        let mut unit = new.unit(rewriting::Employee::partition(&employee.department))?;
        unit.delete(&row)?;
        unit.insert(&employee)?;
        unit.commit().await?;
        count += 1;
    }
    Ok(count)
}

#[pollster::test]
async fn employees_with_an_index_are_rewritten_and_found_by_it() -> Result<()> {
    let mut page = Procedure::of("schema-evolution.md", "A rewrite");
    let store = Engine::in_memory();
    let old = store.entities::<released::Employee>().create_if_missing().await?;
    old.bulk().insert_all((0..EMPLOYEES).map(employee)).await?;

    page.step("If the entity has indexes in its partition, declare them on both types, with the old type as an earlier version of the new one");
    page.step("and replace the transaction by a unit of");
    page.step("it deletes the old entity and inserts the new one, with their index rows.");
    assert_eq!(rewrite(&store, 700).await?, 700);
    assert_eq!(rewrite(&store, usize::MAX).await?, 500);
    store.table::<rewriting::Employee>().accept_schema("employees rewritten with 8 digits").await?;
    let next = store.entities::<next::Employee>().create_if_missing().await?;
    let report = next.check().run().await?;
    assert!(report.is_clean(), "{} {:?}", report.found, report.findings.first());
    for id in 0..EMPLOYEES {
        let old = employee(id);
        let found = next.get(next::Employee::by_email(&old.department, &old.email)).await?.unwrap();
        assert_eq!(found.id, id);
        assert!(next.get(next::Employee::key(&old.department, id)).await?.is_some());
    }
    Ok(())
}
