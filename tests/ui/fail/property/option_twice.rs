use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    left: Option<Option<i32>>,
}

fn main() {}
