use table_core::Entity;

#[derive(Entity)]
#[partition_key(hour(department))]
#[row_key("empid_", id)]
pub struct Employee {
    department: String,
    id: u32,
}

fn main() {}
