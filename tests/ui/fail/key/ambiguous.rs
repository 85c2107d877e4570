use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(name, "_", id)]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

fn main() {}
