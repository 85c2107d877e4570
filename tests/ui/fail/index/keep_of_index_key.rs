use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email), keep(email, name))]
pub struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
}

fn main() {}
