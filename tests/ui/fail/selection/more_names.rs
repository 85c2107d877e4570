use table_core::{Engine, Entity, Table, TableEntity, TableStoreExt};

#[derive(Entity, Clone)]
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

async fn habits(store: Engine, table: Table<Employee, Engine>, mut row: TableEntity) -> table_core::Result<()> {
    let all = || table.query(Employee::partition("Sales"));
    let _ = all().filter(Employee::AGE.gt(60)).or_filter(Employee::AGE.lt(20)).collect().await?; //~ T205
    let _ = all().any().await?; //~ T198
    let _ = all().inner_join(&table).collect().await?; //~ T194
    let _ = all().reverse().collect().await?; //~ T099
    let _ = all().last().await?; //~ T099
    let _ = table.aggregate(["$group"]).await?; //~ T194
    let _ = table.find_or_create(7, "Ada").await?; //~ T190
    let _ = table.find_and_modify(7).await?; //~ T209
    let _ = table.order_by("age").await?; //~ T201
    let _: Vec<Employee> = store.query_as::<Employee>("SELECT * FROM Company").await?; //~ T215
    let _ = store.save_changes().await?; //~ T215
    let _ = store.transact_write_items([1]).await?; //~ T202
    let _ = row.get_string("Age"); //~ T272
    let _ = row["Age"]; //~ T272
    row.add("Age", 37); //~ T272
    Ok(())
}

async fn words(table: Table<Employee, Engine>, ada: Employee) -> table_core::Result<()> {
    let all = || table.query(Employee::partition("Sales"));
    let _ = all().apply_if(Some(30), |query, age| query.filter(Employee::AGE.ge(age))).collect().await?; //~ T205
    let _ = all().sort_by_key(|employee| employee.age).collect().await?; //~ T099
    let _ = all().filter((Employee::AGE * 2).gt(60)).collect().await?; //~ T235
    let _ = table.get_or_insert_with(Employee::key("Sales", 7), || ada.clone()).await?; //~ T190
    let _ = table.compare_and_swap(7, 8).await?; //~ T209
    let _ = table.patch(Employee::key("Sales", 7)).set(Employee::AGE, Employee::AGE + 1).send().await?; //~ T199
    let _ = table.get(ada).await?; //~ T084
    Ok(())
}

fn main() {}
