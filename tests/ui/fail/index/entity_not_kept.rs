use table_core::{Engine, Entity, TableStoreExt};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email), keep(name))]
pub struct Employee {
    department: String,
    id: u32,
    name: String,
    age: i32,
    email: String,
}

fn main() {
    let employees = Engine::in_memory().table::<Employee>();
    let _ = employees.get(Employee::by_email("Sales", "ada@contoso.com"));
}
