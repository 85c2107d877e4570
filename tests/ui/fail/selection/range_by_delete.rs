use table_core::{Engine, Entity, IfMatch, Table};

#[derive(Entity)]
#[partition_key(user)]
#[row_key(id)]
struct Event {
    user: String,
    id: u32,
    kind: String,
}

fn read(events: &Table<Event, Engine>) {
    let _ = events.delete(Event::rows("ada").id(1..=9), IfMatch::Any);
}

fn main() {}
