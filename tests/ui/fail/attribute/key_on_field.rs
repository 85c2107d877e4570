use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[row_key]
    id: u32,
}

fn main() {}
