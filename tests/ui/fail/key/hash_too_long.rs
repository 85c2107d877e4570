use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(hash(crc32, 9, user))]
pub struct Event {
    department: String,
    user: String,
}

fn main() {}
