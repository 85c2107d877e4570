use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(manager)]
pub struct Employee {
    department: String,
    manager: Option<u32>,
}

fn main() {}
