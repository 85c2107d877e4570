use table_core::Entity;

#[derive(Entity)]
#[partition_key(user)]
#[row_key(without('/', name))]
pub struct Event {
    user: String,
    name: String,
}

fn main() {}
