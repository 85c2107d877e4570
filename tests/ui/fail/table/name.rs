use table_core::Entity;

#[derive(Entity)]
#[entity(table = "my-company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    id: u32,
    age: i32,
}

fn main() {}
