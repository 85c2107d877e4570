use table_core::Entity;

#[derive(Entity)]
#[partition_key(user)]
#[row_key(4, id)]
pub struct Event {
    user: String,
    id: u32,
}

fn main() {}
