use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_{id}_x")]
pub struct Employee {
    department: String,
    id: u32,
}

fn main() {}
