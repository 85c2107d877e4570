use table_patterns::Entity;
use table_patterns::large::{BlobRef, Large};

#[derive(Entity, Large)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    photo: Option<BlobRef>,
}

fn main() {}
