use table_core::{Engine, Entity, Table};

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

async fn change(employees: &Table<Employee, Engine>) {
    let _ = employees.patch(Employee::key("Sales", 223)).set(Employee::AGE, "31").send().await;
}

fn main() {}
