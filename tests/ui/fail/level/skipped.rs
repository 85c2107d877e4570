use table_core::{Entity};

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

fn main() {
    let _ = Event::within("contoso").session_is(7);
}
