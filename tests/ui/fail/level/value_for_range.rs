use table_core::{Engine, Entity, Table};

#[derive(Entity)]
#[partition_key(tenant, user, session)]
#[row_key(id)]
pub struct Event {
    tenant: String,
    user: String,
    session: u32,
    id: u32,
    kind: String,
}

fn read(events: &Table<Event, Engine>) {
    let _ = events.query(Event::within("contoso").user("ada"));
}

fn main() {}
