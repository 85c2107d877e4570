use table_core::Entity;

#[derive(Entity)]
#[partition_key(bucket(user, 100000))]
#[row_key(user)]
struct Event {
    user: String,
}

fn main() {}
