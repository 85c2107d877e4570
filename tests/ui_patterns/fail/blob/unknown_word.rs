use table_patterns::Entity;
use table_patterns::large::{BlobRef, Large};

#[derive(Entity, Large)]
#[large(crat = table_patterns)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    #[blob]
    photo: Option<BlobRef>,
}

fn main() {}
