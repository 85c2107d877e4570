use table_core::Entity;

#[derive(Entity)]
#[entity(allow(many_buckets, reason = "every read names its user"))]
#[partition_key(bucket(user, 16))]
#[row_key(user)]
pub struct Event {
    user: String,
}

fn main() {}
