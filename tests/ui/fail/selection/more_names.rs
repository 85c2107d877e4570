use table_core::{Engine, Entity, Table, TableStoreExt};

#[derive(Entity)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    age: i32,
}

async fn uses(store: Engine, table: Table<Employee, Engine>) -> table_core::Result<()> {
    let all = || table.query(Employee::partition("Sales"));
    let _ = all().use_index("ByAge").collect().await?; //~ T258
    let _ = all().consistent_read(true).collect().await?; //~ T259
    let _ = all().scan_index_forward(false).collect().await?; //~ T099
    let _ = all().key_condition_expression("id > :id").collect().await?; //~ T205
    let _ = all().send().await?; //~ T198
    let page = all().page().await?;
    let _ = page.last_evaluated_key(); //~ T261
    let _ = store.collection("Company"); //~ T215
    let _ = store.begin_write(); //~ T202
    let _ = table.drop().await?; //~ T203
    let _ = table.query_index("ByAge", 5).await?; //~ T191
    Ok(())
}

fn main() {}
