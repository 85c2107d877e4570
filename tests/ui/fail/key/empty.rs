use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key()]
pub struct Employee {
    department: String,
    id: u32,
    age: i32,
}

fn main() {}
