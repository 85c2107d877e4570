use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
pub struct Employee {
    department: String,
    #[digits(12)]
    id: u32,
}

fn main() {}
