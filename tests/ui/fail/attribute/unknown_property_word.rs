use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    id: u32,
    #[property(jsn)]
    age: i32,
}

fn main() {}
