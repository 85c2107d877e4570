use table_patterns::large::{BlobRef, Large};

#[derive(Large)]
struct Employee {
    department: String,
    id: u32,
    #[blob]
    photo: Option<BlobRef>,
}

fn main() {}
