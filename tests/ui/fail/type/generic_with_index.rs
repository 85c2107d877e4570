use table_core::{Entity, Property};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Employee<T: Property> {
    department: String,
    id: u32,
    email: String,
    note: T,
}

fn main() {}
