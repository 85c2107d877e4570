use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(Directory, partition_key("all"), row_key(email), keep(name))]
pub struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
}

fn main() {}
