use table_core::{Entity, Projection};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    age: Option<i32>,
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Contact {
    frist_name: String, //~ T123
}

fn main() {}
