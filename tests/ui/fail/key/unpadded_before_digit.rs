use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(unpadded(id), "0", unpadded(other))]
pub struct Event {
    department: String,
    id: u32,
    other: u32,
}

fn main() {}
