use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unqiue, row_key(email))]
pub struct Employee {
    department: String,
    id: u32,
    email: String,
}

fn main() {}
