use table_core::Entity;

#[derive(Entity)]
#[partition_key(service, "_", hex(8, upper, hash))]
#[row_key(name)]
struct Reminder {
    service: String,
    hash: u32,
    name: String,
}

fn main() {
    Reminder::partitions_by_hash("shop", 0..7);
}
