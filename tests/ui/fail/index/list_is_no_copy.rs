use table_core::{Engine, Entity, TableStoreExt};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index_entity(ByName, at_most = 100, row_key("name_", name))]
pub struct Employee {
    department: String,
    id: u32,
    name: String,
}

fn main() {
    let employees = Engine::in_memory().table::<Employee>();
    let _ = employees.get(Employee::by_name("Sales", "Jones"));
}
