use table_core::embedded::Engine;
use table_core::{Entity, TableStoreExt};

#[derive(Entity)]
#[partition_key(user)]
#[row_key(id)]
struct Event {
    user: String,
    id: u32,
}

fn main() {
    let events = Engine::in_memory().table::<Event>();
    let _ = events.scan("monthly audit").collect();
}
