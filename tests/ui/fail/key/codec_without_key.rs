use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
pub struct Employee {
    department: String,
    id: u32,
    #[digits(3)]
    age: i32,
}

fn main() {}
