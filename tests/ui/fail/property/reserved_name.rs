use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    id: u32,
    age: i32,
    timestamp: i64,
}

fn main() {}
