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

fn write(events: &Table<Event, Engine>) {
    let _ = events.transaction(Event::within("contoso"));
}

fn main() {}
