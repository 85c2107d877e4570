use table_core::Entity;

#[derive(Entity)]
#[entity(allow(hot_partition, reason = "a few a day"))]
#[partition_key(bucket(user, 16))]
#[row_key(user)]
pub struct Event {
    user: String,
    kind: String,
}

fn main() {}
