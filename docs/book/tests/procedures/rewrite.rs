//! Tests the procedure for rewriting the rows of a table with different keys for the same entity.

mod blobs;
mod indexed;

use std::pin::pin;

use futures_util::TryStreamExt;
use table_patterns::retry::Retry;
use table_patterns::table::LEASE;
use table_patterns::{Engine, ErrorCode, Result, TableStoreExt as _};

use crate::page::Procedure;
use crate::time::Time;

mod released {
    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub age: i32,
    }
}

/// The declarations used by the program that rewrites the rows.
mod rewriting {
    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", set = Rewrite)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct OldEmployee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub age: i32,
    }

    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", set = Rewrite)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(8)]
        pub id: u32,
        pub age: i32,
    }

    #[derive(table_patterns::EntitySet)]
    pub(super) enum Rewrite {
        Old(OldEmployee),
        New(Employee),
        #[other]
        Other(table_patterns::TableEntity),
    }
}

mod next {
    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
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

const EMPLOYEES: u32 = 2_500;

fn employee(at: u32) -> released::Employee {
    let age = i32::try_from(at % 50).unwrap() + 18;
    released::Employee { department: format!("department {}", at % 7), id: at * 389, age }
}

fn rewritten(old: released::Employee) -> next::Employee {
    next::Employee { department: old.department, id: old.id, age: old.age }
}

/// Rewrites at most `most` employees. Returns the number of employees that were rewritten.
async fn rewrite(store: &Engine, most: usize) -> Result<usize> {
    let (old, new) = (store.table::<rewriting::OldEmployee>(), store.table::<rewriting::Employee>());
    let (mut rows, mut count) = (pin!(old.scan("8 digits").max_rows(100_000).stream()), 0);
    while count < most
        && let Some(row) = rows.try_next().await?
    {
        let key = rewriting::OldEmployee::key(&row.department, row.id);
        let etag = row.etag().clone();
        let rewriting::OldEmployee { department, id, age } = row.into_value();
        let mut transaction = new.transaction(rewriting::Employee::partition(&department))?;
        transaction.insert(&rewriting::Employee { department, id, age })?.delete(key, etag)?;
        transaction.commit().await?;
        count += 1;
    }
    Ok(count)
}

#[pollster::test]
async fn employees_are_rewritten_under_longer_numbers() -> Result<()> {
    let mut page = Procedure::of("schema-evolution.md", "A rewrite");
    let time = Time::new();
    let store = time.engine();
    let open =
        || store.table::<released::Employee>().with_retry(Retry::default().with_runtime(time.runtime()));
    let forgotten = open().create_if_missing().await?;
    forgotten.bulk().insert_all((0..EMPLOYEES).map(employee)).await?;

    page.step("Stop every program that writes the table");
    page.step("Declare the old type next to the new one, as members of one set");
    page.step("a scan of the old type skips the rows that are rewritten already.");
    page.step(
        "Read every old row (`scan`). In one transaction, write it as the new type and delete the old row.",
    );
    page.step("Use a handle of the new type that was not opened, because `create_if_missing` refuses the new type until step 4.");
    page.step("The rewrite can be stopped and repeated.");
    let refused = store.table::<next::Employee>().create_if_missing().await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::SchemaMismatch);
    assert_eq!(rewrite(&store, 1_100).await?, 1_100);
    let without_set = forgotten.scan("without a set").max_rows(100_000).collect().await.unwrap_err();
    assert_eq!(without_set.code(), ErrorCode::EntityMismatch, "a scan that does not know the new rows");
    // A program that was not stopped still writes with the old keys.
    forgotten.insert(&employee(EMPLOYEES)).await?;
    let rest = usize::try_from(EMPLOYEES).unwrap() + 1 - 1_100;
    assert_eq!(rewrite(&store, usize::MAX).await?, rest);
    let late = employee(EMPLOYEES + 1);
    forgotten.insert(&late).await?;

    page.step("`table.accept_schema(");
    store.table::<rewriting::Employee>().accept_schema("employees rewritten with 8 digits").await?;
    page.step("from then on `create_if_missing` succeeds, and programs of the old type are refused.");
    let next = store.table::<next::Employee>().create_if_missing().await?;
    time.pass(LEASE * 2);
    assert_eq!(
        forgotten.insert(&employee(EMPLOYEES + 2)).await.unwrap_err().code(),
        ErrorCode::SchemaMismatch
    );

    page.step("Repeat step 3: it finds the rows of a program that was not stopped.");
    assert!(next.get(next::Employee::key(&late.department, late.id)).await?.is_none());
    let mixed = next.query(next::Employee::partition(&late.department)).collect().await.unwrap_err();
    assert_eq!(mixed.code(), ErrorCode::EntityMismatch);
    assert_eq!(rewrite(&store, usize::MAX).await?, 1);
    let mut found = next.scan("all employees").max_rows(100_000).collect().await?;
    found.sort_by_key(|employee| employee.id);
    let expected: Vec<_> = (0..EMPLOYEES + 2).map(employee).map(rewritten).collect();
    assert!(found == expected, "{} of {} employees", found.len(), expected.len());
    Ok(())
}
