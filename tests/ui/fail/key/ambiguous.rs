use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(name, "_", title)]
pub struct Employee {
    department: String,
    name: String,
    title: String,
}

fn main() {}
