//! Methods and arguments that users of other libraries would write, and calls on the results. Each mistake is reported once.

use table_core::{ETag, Engine, Entity, ErrorCode, IfMatch, Table, TableStoreExt};

#[derive(Entity, Clone)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    age: i32,
    note: Option<String>,
}

#[derive(Entity)]
#[entity(table = "Offices")]
#[partition_key(department)]
#[row_key("")]
struct Office {
    department: String,
    rooms: i32,
}

async fn reads(table: &Table<Employee, Engine>) -> table_core::Result<()> {
    let all = || table.query(Employee::partition("Sales"));
    let _: Vec<Employee> = all().load().await?; //~ T198
    let _ = all().order_by(Employee::AGE).collect().await?; //~ T099
    let _ = all().order(Employee::AGE).first().await?; //~ T099
    let _ = all().take(5).collect().await?; //~ T193
    let _ = all().inner_join(Employee::AGE).collect().await?; //~ T194
    let _ = all().bind(7).fetch_all().await?; //~ T205
    let _ = all().where_(Employee::AGE.eq(7)).collect().await?; //~ T205
    let _ = all().between(1, 2).go().await?; //~ T205
    let _ = all().as_no_tracking().collect().await?; //~ T198
    let _ = table.filter(Employee::AGE.eq(7)).collect().await?; //~ T201
    let _ = table.get_entity("Sales", "0000000007").await?; //~ T191
    let _ = table.query_async("PartitionKey eq 'Sales'").await?; //~ T201
    let _ = table.count().await?; //~ T201
    let _ = table.find_many(Employee::AGE.eq(7)).await?; //~ T201
    let _ = table.select("Age").collect().await?; //~ T201
    let _ = table.get_many([Employee::partition("Sales")]).await?; //~ T219
    let _ = table.get_many(["0000000007"]).await?; //~ T084
    let _ = table.get_many(Employee::key("Sales", 7)).await?; //~ T219
    let _ = Employee::partition("Sales").filter(Employee::AGE.ge(18)).collect().await?; //~ T204
    let _ = table.query(Employee::rows("Sales").id(7..).gte(9)); //~ T204
    let _ = all().select(Employee::AGE).collect().await?; //~ T195
    let _ = all().select(|employee: Employee| employee.age).collect().await?; //~ T195
    let _ = all().select::<Office>().collect().await?; //~ T195
    let _ = Employee::key("Sales", 7).to_string(); //~ T246
    let _ = all().exec(table).await?; //~ T198
    let _ = all().sum_async(Employee::AGE).await?; //~ T194
    let _ = all().max_per_page(5).collect().await?; //~ T193
    all().delete().await?; //~ T213
    let _ = table.batch_get([Employee::key("Sales", 7)]).await?; //~ T191
    let _ = table.query_as("SELECT * FROM Employee").fetch_one().await?; //~ T201
    let _ = all().one(table).await?; //~ T198
    let _ = all().fetch_one().await?; //~ T198
    let _ = all().load(table).await?; //~ T198
    let _ = all().to_list_async().await?; //~ T198
    let _ = all().cursor("0000000007").collect().await?; //~ T099
    let _ = all().or_filter(Employee::AGE.eq(7)).collect().await?; //~ T205
    let _ = all().filter(Employee::AGE == 7).collect().await?; //~ T096
    let _ = all().filter(Employee::AGE >= 7 && Employee::NOTE != "new").collect().await?; //~ T096
    let _ = all().filter(Employee::ID == 7).collect().await?; //~ T096
    let _ = all().filter("Age gt 30").collect().await?; //~ T096
    let _ = all().filter(format!("Age gt {}", 30)).collect().await?; //~ T096
    let _ = all().filter(Office::ROOMS.gt(3)).collect().await?; //~ T096
    let _ = all().filter(Employee::NOTE.is_null()).collect().await?; //~ T197
    let _ = all().filter(Employee::NOTE.is_some()).collect().await?; //~ T197
    let _ = all().filter(Employee::AGE.eq_any([7, 8])).collect().await?; //~ T197
    let _ = all().filter(Employee::AGE.between(7, 8)).collect().await?; //~ T197
    let _ = all().filter(Employee::AGE.equals(7)).collect().await?; //~ T197
    let _ = all().filter(Employee::AGE.not_eq(7)).collect().await?; //~ T197
    let _ = all().filter(Employee::NOTE.eq(Some("new"))).collect().await?; //~ T087
    let _ = all().order_by(Employee::AGE.desc()).collect().await?; //~ T099
    let _ = Employee::find_by_id(table, 7).await?; //~ T214
    let _ = Employee::create().age(36).exec(table).await?; //~ T214
    Ok(())
}

async fn writes(table: &Table<Employee, Engine>, ada: &Employee) -> table_core::Result<()> {
    table.put(ada).go().await?; //~ T190
    table.upsert_entity(ada).await?; //~ T190
    table.save_changes().await?; //~ T190
    table.delete_entity("Sales", "0000000007").await?; //~ T203
    table.begin().await?.commit().await?; //~ T202
    table.submit_transaction([ada]).await?; //~ T202
    table.replace(ada, "*").await?; //~ T207
    table.delete(Employee::key("Sales", 7), ETag::All).await?; //~ T207
    table.delete(Employee::key("Sales", 7), ETag::any()).await?; //~ T207
    table.bulk().insert_all(ada).await?; //~ T217
    table.bulk().delete_all([ada]).await?; //~ T218
    table.bulk().delete_all(Employee::key("Sales", 7)).await?; //~ T218
    table.patch(Employee::key("Sales", 7)).set(Employee::ID, 8).send().await?; //~ T130
    table.update(Employee::partition("Sales"), |employee| employee.age += 1).await?; //~ T208
    table.try_update("Sales", |_| Ok(())).await?; //~ T208
    table.update(Employee::key("Sales", 7), ada.clone()).await?; //~ T243
    table.try_update(Employee::key("Sales", 7), ada.clone()).await?; //~ T243
    table.update(Employee::key("Sales", 7), |old| Employee { age: 37, ..old.clone() }).await?; //~ T244
    table.update(Employee::key("Sales", 7), async |employee| employee.age = 37).await?; //~ T244
    table.update(Employee::key("Sales", 7), |employee| async move { employee.age = 37 }).await?; //~ T244
    table.update(Employee::key("Sales", 7), |employee| employee.note.take()).await?; //~ T244
    table.patch(Employee::key("Sales", 7)).add(Employee::AGE, 1).send().await?; //~ T206
    table.patch(Employee::key("Sales", 7)).remove(Employee::NOTE).send().await?; //~ T206
    table.patch(Employee::key("Sales", 7)).set(Employee::AGE, 36).go().await?; //~ T210
    table.update_entity(ada, "Merge").await?; //~ T209
    table.transaction(Employee::partition("Sales"))?.rollback().await?; //~ T211
    table.transaction(Employee::partition("Sales"))?.execute(table).await?; //~ T211
    let _ = Employee::partition("Sales").exec(table).await?; //~ T204
    ada.insert(table).await?; //~ T214
    ada.clone().save(table).await?; //~ T214
    let mut found = ada.clone();
    found.update().age(37).exec(table).await?; //~ T214
    Employee::delete_many().exec(table).await?; //~ T214
    Engine::in_memory().save(ada).await?; //~ T215
    Engine::in_memory().upsert_entity("Employee", ada).await?; //~ T215
    let office = Office { department: "Sales".to_owned(), rooms: 3 };
    table.transaction(Employee::partition("Sales"))?.insert(&office)?; //~ T216
    table.transaction(Employee::partition("Sales"))?.delete(Office::key("Sales"), IfMatch::Any)?; //~ T216
    let _ = Engine::in_memory().table_named::<String>("Employee"); //~ T105
    let _ = Engine::from_connection_string("UseDevelopmentStorage=true"); //~ T212
    let _ = Engine::new(); //~ T212
    let _ = ada.key(); //~ T245
    let _ = ada.partition_key()?; //~ T245
    let _ = ada.etag(); //~ T245
    let _ = table.transaction(Employee::partition("Sales")).rollback(); //~ T214
    if let Err(error) = table.insert(ada).await {
        let _ = error.kind() == ErrorCode::EntityAlreadyExists; //~ T247
        let _ = error.as_database_error().map(|error| error.is_unique_violation()); //~ T247
    }
    Ok(())
}

fn main() {}
