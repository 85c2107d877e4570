//! Queries, pages and scans used as iterators, and methods of queries called on scans. Each mistake is reported once.

use table_core::{Engine, Entity, Table};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    age: i32,
}

async fn reads(table: &Table<Employee, Engine>) -> table_core::Result<()> {
    let all = || table.query(Employee::partition("Sales"));
    for employee in all() {} //~ T?
    for employee in all().page().await? {} //~ T?
    let _: Vec<i32> = all().iter().map(|employee: &Employee| employee.age).collect(); //~ T198
    let _ = all().filter_map(|employee: Employee| Some(employee.age)).collect().await?; //~ T198
    let _ = all().into_stream(); //~ T198
    let _ = all().rev().collect().await?; //~ T099
    let _ = all().last().await?; //~ T099
    let _ = all().max_by_key(|employee: &Employee| employee.age).await?; //~ T194
    let _ = all().fold(0, |sum: i32, employee: Employee| sum + employee.age).await?; //~ T194
    let _ = table.query("Sales").collect().await?; //~ T086
    let _ = table.scan("audit").filter(Employee::AGE.ge(18)).collect().await?; //~ T093
    let _ = table.scan("audit").limit(10).collect().await?; //~ T093
    let audit = || table.scan("audit").max_rows(10);
    let _ = audit().limit(10).collect().await?; //~ T234
    let _ = audit().first().await?; //~ T234
    let _ = audit().take(10).collect().await?; //~ T234
    let _ = audit().order_by(Employee::AGE).collect().await?; //~ T234
    let _ = audit().count().await?; //~ T234
    Ok(())
}

fn main() {}
