use table_core::Entity;

#[derive(Entity)]
#[digits(6)]
#[partition_key(user)]
#[row_key(id)]
struct Event {
    user: String,
    id: u32,
}

fn main() {}
