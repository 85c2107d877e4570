use table_patterns::Entity;
use table_patterns::large::BlobRef;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    #[blob]
    photo: Option<BlobRef>,
}

fn main() {}
