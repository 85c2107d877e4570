use table_core::{Engine, Entity, IfMatch, Table};

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

fn remove(events: &Table<Event, Engine>) {
    let _ = events.delete(Event::within("contoso").user_is("ada"), IfMatch::Any);
}

fn main() {}
