use table_core::{Engine, Entity, Table};

#[derive(Entity)]
#[partition_key(user)]
#[row_key(id)]
struct Event {
    user: String,
    id: u32,
    kind: String,
}

fn read(events: &Table<Event, Engine>) {
    let _ = events.query(Event::partition("ada")).filter(Event::KIND.eq(7));
}

fn main() {}
