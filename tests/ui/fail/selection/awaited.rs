//! Awaited calls with a wrong argument. Each mistake is reported once, even though rustc checks the future as well.

use table_core::{Engine, Entity, IfMatch, Projection, Table};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    age: i32,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key("id_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Indexed {
    department: String,
    id: u32,
    email: String,
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Age {
    age: i32,
}

async fn read(table: &Table<Employee, Engine>) {
    let _ = table.get("7").await; //~ T084
    let _ = table.get_as::<Age>(Employee::partition("Sales")).await; //~ T084
    let _ = table.exists(Employee::rows("Sales")).await; //~ T084
}

async fn write(table: &Table<Employee, Engine>, indexed: &Table<Indexed, Engine>, ada: &Indexed) {
    let _ = table.delete(Employee::partition("Sales"), IfMatch::Any).await; //~ T084
    let _ = indexed.insert(ada).await; //~ T069
    let _ = indexed.replace(ada, IfMatch::Any).await; //~ T069
    let _ = indexed.merge(ada, IfMatch::Any).await; //~ T069
    let _ = indexed.insert_or_replace(ada).await; //~ T069
    let _ = indexed.insert_or_merge(ada).await; //~ T069
    let _ = indexed.update(Indexed::key("Sales", 7), |ada| ada.email.clear()).await; //~ T069
    let _ = indexed.try_update(Indexed::key("Sales", 7), |_| Ok(())).await; //~ T069
}

fn main() {}
