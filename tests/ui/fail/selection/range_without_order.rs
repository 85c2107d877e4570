use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(without('_', name), "_", id)]
struct Employee {
    department: String,
    name: String,
    id: u32,
}

fn main() {
    let _ = Employee::rows("Sales").name("A".."B");
}
