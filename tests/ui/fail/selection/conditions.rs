//! Conditions that users of other libraries would write.

use table_core::{Engine, Entity, Table};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
    age: i32,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Review {
    department: String,
    id: u32,
    rating: i32,
}

fn conditions(table: &Table<Employee, Engine>) {
    let all = || table.query(Employee::partition("Sales"));
    let _ = all().filter("Age gt 30"); //~ T096
    let _ = all().filter(Review::RATING.gt(3)); //~ T096
    let _ = all().filter(|employee: &Employee| employee.age > 30); //~ T096
    let _ = all().filter(Employee::ID.eq(7)); //~ T097
    let _ = all().filter(Employee::DEPARTMENT.starts_with("S")); //~ T097
    let _ = all().filter(Employee::LAST_NAME.contains("Jo")); //~ T098
    let _ = all().filter(Employee::LAST_NAME.eq(None::<String>)); //~ T087
    let _ = all().order_by(Employee::AGE); //~ T099
    let _ = all().skip(10); //~ T099
    let _ = all().take(10); //~ T193
    let _ = all().sum(Employee::AGE); //~ T194
    let _ = all().select(["Age"]); //~ T195
    let _ = table.query(Review::partition("Sales")); //~ T196
    let _ = table.query(|employee: &Employee| employee.age > 30); //~ T196
    let _ = all().filter(Employee::AGE.between(18, 65)); //~ T197
    let _ = all().filter(Employee::LAST_NAME.is_null()); //~ T197
    let _ = all().filter(Employee::AGE.gte(18)); //~ T197
    let _ = all().filter(Employee::AGE.equals(18)); //~ T197
    let _ = Employee::partition("Sales").filter(Employee::AGE.ge(18)); //~ T204
    let _ = Employee::partition("Sales").collect(); //~ T204
}

async fn reads(table: &Table<Employee, Engine>) {
    let all = || table.query(Employee::partition("Sales"));
    let _ = all().to_list().await; //~ T198
    let _ = all().fetch_all().await; //~ T198
    let _ = all().single().await; //~ T198
    let _ = all().any().await; //~ T198
    let _ = all().fetch_one(); //~ T198
    let _ = all().map(|employee: Employee| employee.age); //~ T198
}

async fn verbs(table: &Table<Employee, Engine>, ada: &Employee) {
    let _ = table.save(ada).await; //~ T190
    let _ = table.find(Employee::key("Sales", 7_u32)).await; //~ T191
    let _ = table.insert_all([ada]).await; //~ T192
    let _ = table.remove(Employee::key("Sales", 7_u32)).await; //~ T203
    let _ = table.create_if_not_exists().await; //~ T200
    let _ = table.create_table().await; //~ T200
    let _ = table.all().await; //~ T201
    let _ = table.begin().await; //~ T202
}

fn main() {}
