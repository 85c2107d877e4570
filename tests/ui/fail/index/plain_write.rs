use table_core::{Entity, PlainEntity};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
pub struct Employee {
    department: String,
    id: u32,
    email: String,
}

fn insert<E: PlainEntity>(_: &E) {}

fn write(employee: &Employee) {
    insert(employee);
}

fn main() {}
