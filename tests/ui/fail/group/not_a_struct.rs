use table_core::{Entity, EntityGroup};

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

#[derive(EntityGroup)]
enum Staff {
    Employee(Employee),
}

fn main() {}
