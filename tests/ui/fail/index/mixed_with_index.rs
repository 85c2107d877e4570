use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("e_", email))]
#[index_entity(ByName, at_most = 100, row_key("e_n_", name))]
pub struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
}

fn main() {}
