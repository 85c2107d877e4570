use table_core::{Entity, access_patterns};

#[derive(Entity)]
#[partition_key(tenant, user)]
#[row_key(id)]
struct Event {
    tenant: String,
    user: String,
    id: u64,
}

access_patterns! {
    /// What a tenant asks.
    Tenants for Event {
        all(tenant: &str) <= fanout(100) = Event::within(tenant);
    }
}

fn main() {}
