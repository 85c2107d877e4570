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

#[derive(Entity)]
#[partition_key(name)]
#[row_key("")]
struct Department {
    name: String,
    budget: i64,
}

async fn change(employees: &Table<Employee, Engine>) {
    let _ = employees.patch(Employee::key("Sales", 223)).set(Department::BUDGET, 31).send().await;
}

fn main() {}
