//! Reads, changes and single writes in transactions and bulk writes, in the style of other libraries. Each mistake is reported once.

use table_core::{Engine, Entity, Table};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    age: i32,
}

async fn writes(table: &Table<Employee, Engine>, ada: &Employee) -> table_core::Result<()> {
    let mut sales = table.transaction(Employee::partition("Sales"))?;
    let _ = sales.get(Employee::key("Sales", 7)).await?; //~ T231
    let _ = sales.query(Employee::partition("Sales")).collect().await?; //~ T231
    sales.update(Employee::key("Sales", 7), |employee| employee.age += 1)?; //~ T232
    sales.upsert(ada)?; //~ T232
    sales.add(ada)?; //~ T232
    sales.insert(ada)?.save(ada)?; //~ T232
    sales.commit().await?;
    table.bulk().insert(ada).await?; //~ T233
    table.bulk().upsert_all([ada]).await?; //~ T233
    table.bulk().add(ada).execute().await?; //~ T233
    Ok(())
}

fn main() {}
