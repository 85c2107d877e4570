use table_core::{Engine, Entity, Projection, TableStoreExt};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

#[derive(Entity)]
#[partition_key(state)]
#[row_key(code)]
struct Airport {
    state: String,
    code: String,
    name: String,
}

#[derive(Projection)]
#[projection(of = Airport)]
struct AirportName {
    name: String,
}

fn main() {
    let employees = Engine::in_memory().table::<Employee>();
    let _ = employees.query(Employee::partition("Sales")).project::<AirportName>();
    let _ = employees.get_as::<AirportName>(Employee::key("Sales", 223));
}
