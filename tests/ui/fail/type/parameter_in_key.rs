use table_core::Entity;
use table_core::key::KeyPart;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee<I: KeyPart> {
    department: String,
    id: I,
}

fn main() {}
