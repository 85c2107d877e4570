use table_core::Entity;

#[derive(Entity)]
#[partition_key(hash(crc32, 4, user), department)]
#[row_key(user)]
pub struct Event {
    department: String,
    user: String,
}

fn main() {}
