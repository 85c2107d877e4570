use table_core::{Entity, EntitySet, TableEntity};

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

struct Robot;

#[derive(EntitySet)]
enum Staff {
    Employee(Employee),
    Robot(Robot),
    #[other]
    Unknown(TableEntity),
}

fn main() {}
