use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(desc(name))]
pub struct Employee {
    department: String,
    name: String,
}

fn main() {}
