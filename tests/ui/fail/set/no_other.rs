use table_core::{Entity, EntitySet};

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

#[derive(EntitySet)]
enum Staff {
    Employee(Employee),
}

fn main() {}
