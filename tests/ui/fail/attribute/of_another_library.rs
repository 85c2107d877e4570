use table_core::Entity;

#[derive(Entity)]
#[table("Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    id: u32,
}

fn main() {}
