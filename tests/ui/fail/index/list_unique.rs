use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index_entity(ByName, at_most = 100, unique, row_key("name_", name))]
pub struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
}

fn main() {}
