use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(Key, unique, row_key("email_", email))]
pub struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
}

fn main() {}
