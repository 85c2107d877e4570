use table_patterns::Entity;
use table_patterns::large::{BlobRef, Large};

#[derive(Entity, Large)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    email: String,
    #[blob]
    photo: Option<BlobRef>,
}

fn main() {}
