use table_core::{Engine, Entity, Table};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email), keep(last_name))]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
    email: String,
    age: i32,
}

async fn change(employees: &Table<Employee, Engine>) {
    let _ = employees.patch(Employee::key("Sales", 223)).set(Employee::AGE, 31).send().await;
    let _ = employees.patch(Employee::key("Sales", 223)).set(Employee::EMAIL, "ada@contoso.com").send().await;
    let _ = employees.patch(Employee::key("Sales", 223)).set(Employee::LAST_NAME, "King").send().await;
}

fn main() {}
