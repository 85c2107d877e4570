use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(desc(hash(crc32, 8, user)))]
pub struct Event {
    department: String,
    user: String,
}

fn main() {}
