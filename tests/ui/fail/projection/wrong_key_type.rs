use table_core::{Entity, Projection};

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

#[derive(Projection)]
#[projection(of = Employee)]
struct Badge {
    id: String,
    age: i32,
}

fn main() {}
