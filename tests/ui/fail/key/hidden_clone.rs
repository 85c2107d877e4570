use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(clone)]
pub struct Specimen {
    department: String,
    clone: u32,
}

fn main() {}
