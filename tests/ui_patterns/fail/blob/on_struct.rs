use table_patterns::Entity;
use table_patterns::large::{BlobRef, Large};

#[derive(Entity, Large)]
#[partition_key(department)]
#[row_key(id)]
#[blob]
struct Employee {
    department: String,
    id: u32,
    #[blob]
    photo: Option<BlobRef>,
}

fn main() {}
