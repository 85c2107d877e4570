use table_core::Entity;

#[derive(Entity)]
#[partition_key(departmnt)]
#[row_key("empid_", id)]
pub struct Employee {
    department: String,
    id: u32,
    age: i32,
}

fn main() {}
