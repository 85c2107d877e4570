use table_core::Entity;

#[derive(Entity)]
#[partition_key(bucket(user, 16), day)]
#[row_key(user)]
pub struct Login {
    user: u64,
    day: u32,
}

fn main() {}
