use table_core::Entity;

#[derive(Entity)]
#[partition_key(bucket(user, 100000))]
#[row_key(user)]
pub struct Event {
    user: String,
}

fn main() {}
