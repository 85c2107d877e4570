use table_core::Entity;

#[derive(Entity)]
#[partition_key(desc(bucket(user, 16)))]
#[row_key(user)]
pub struct Event {
    user: String,
}

fn main() {}
