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

async fn read(events: &Table<Event, Engine>) {
    let _ = events.get(Event::within("contoso").user_is("ada")).await;
}

fn main() {}
