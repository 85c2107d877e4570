use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("id")]
pub struct Employee {
    department: String,
    id: u32,
}

fn main() {}
