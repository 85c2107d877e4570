//! Scans. A query with a filter reads the entire partition. A table scan reads every partition and requires a reason (DQ-4, DQ-5).

use table_core::{Engine, Entity, Result, TableStoreExt};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Employees")]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    last_name: String,
    age: i32,
}

fn main() -> Result<()> {
    pollster::block_on(run())
}

async fn run() -> Result<()> {
    let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
    for (department, id, last_name, age) in [
        ("Sales", 1, "Jones", 30),
        ("Sales", 2, "Smith", 51),
        ("Sales", 3, "Jones", 62),
        ("Law", 4, "Jones", 44),
    ] {
        let (department, last_name) = (department.to_owned(), last_name.to_owned());
        employees.insert(&Employee { department, id, last_name, age }).await?;
    }

    // The query reads three rows and returns the one that matches the filter.
    let old_jones = Employee::LAST_NAME.eq("Jones").and(Employee::AGE.ge(60));
    let query = employees.query(Employee::partition("Sales")).filter(old_jones);
    println!("{}", query.plan()?);
    let page = query.page().await?;
    assert_eq!((page.items.len(), page.rows_read), (1, Some(3)));

    // `query` requires a partition. `scan` does not, but requires a reason and a limit. A scan that exceeds its limit fails.
    let scan = employees.scan("count all Joneses").max_rows(1_000).filter(Employee::LAST_NAME.eq("Jones"));
    assert_eq!(scan.for_each(|jones| println!("{}", jones.id)).await?, 3);
    let Err(bounded) = employees.scan("a bound too low").max_rows(2).collect().await else {
        panic!("four rows")
    };
    println!("{bounded}");
    Ok(())
}
