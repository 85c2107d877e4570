use table_core::{Engine, Entity, Projection, TableStoreExt};

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

#[derive(Projection)]
#[projection(of = Employee)]
pub struct NameAndAge {
    name: String,
    age: i32,
}

fn main() {
    let employees = Engine::in_memory().table::<Employee>();
    let rows = employees.query(Employee::by_email_rows("Sales"));
    let _ = rows.project::<NameAndAge>();
}
