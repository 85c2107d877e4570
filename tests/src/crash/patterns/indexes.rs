//! Checks indexes in three ways. It runs the check of the table, reads through each index, and compares the stored keys with the keys that the entities
//! require.

use std::collections::BTreeSet;

use table_core::query::{KeyRange, Query};
use table_core::{Result, TableName, TableStore};
use table_patterns::index::Eventual;
use table_patterns::key::text::RESERVED;

use super::stores::{Employee, Stores};

/// Reports defects in the indexes of the employees. `employees` must contain all of them.
pub(super) async fn check_indexes(
    stores: &Stores,
    employees: &[Employee],
    wrong: &mut Vec<String>,
) -> Result<()> {
    let report = stores.company.check().run().await?;
    for finding in &report.findings {
        wrong.push(format!("index: {finding:?}"));
    }
    for employee in employees {
        check_reads(stores, employee, wrong).await?;
    }
    let mut expected = BTreeSet::new();
    for employee in employees {
        let Employee { department, id, last_name, age, email } = employee;
        let mut add = |table: &str, partition: String, row: String| {
            expected.insert((table.to_owned(), partition, row));
        };
        add("Company", department.clone(), format!("empid_{id:06}"));
        add("Company", department.clone(), format!("email_{email}"));
        add("Company", department.clone(), format!("age_{age:03}_{id:06}"));
        add("Company", department.clone(), format!("lastname_{last_name}"));
        add("Company", format!("email_{department}"), email.clone());
        add("Ages", format!("age_{age:03}"), format!("{id:06}_{department}"));
        add("Namesakes", department.clone(), last_name.clone());
    }
    let mut present = BTreeSet::new();
    for table in ["Company", "Ages", "Namesakes"] {
        keys(stores, table, &mut present).await?;
    }
    for (table, partition, row) in expected.difference(&present) {
        wrong.push(format!("index: {table} lacks {partition}/{row}"));
    }
    for (table, partition, row) in present.difference(&expected) {
        wrong.push(format!("index: {table} holds {partition}/{row}, which no entity calls for"));
    }
    Ok(())
}

/// Checks that a read through each index finds the employee with the current data.
async fn check_reads(stores: &Stores, employee: &Employee, wrong: &mut Vec<String>) -> Result<()> {
    let company = &stores.company;
    let Employee { department, last_name, email, .. } = employee;
    let by_email = company.get(Employee::by_email(department, email)).await?;
    if by_email.as_deref() != Some(employee) {
        wrong.push(format!("index ByEmail: {by_email:?} instead of {employee:?}"));
    }
    let by_name = company.get_by_index(Employee::by_last_name(department, last_name)).await?;
    if by_name.iter().filter(|found| ***found == *employee).count() != 1 {
        wrong.push(format!("index ByLastName: {by_name:?} instead of one {employee:?}"));
    }
    let directory = company.get_eventual(Employee::email_directory(department, email)).await?;
    let copy = directory.map(Eventual::into_possibly_stale);
    if copy.as_ref() != Some(employee) {
        wrong.push(format!("index EmailDirectory: {copy:?} instead of {employee:?}"));
    }
    Ok(())
}

/// Adds all keys of a table to `present`, except reserved keys.
async fn keys(stores: &Stores, table: &str, present: &mut BTreeSet<(String, String, String)>) -> Result<()> {
    let everything = Query::new(KeyRange::ALL);
    let (name, mut from) = (TableName::new(table)?, None);
    loop {
        let page = stores.engine.query(&name, &everything, from.as_ref()).await?;
        for entity in page.rows.iter().filter(|entity| !entity.row_key.starts_with(RESERVED)) {
            present.insert((table.to_owned(), entity.partition_key.to_owned(), entity.row_key.to_owned()));
        }
        from = page.continuation;
        if from.is_none() {
            return Ok(());
        }
    }
}
