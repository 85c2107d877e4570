use table_core::Entity;

#[derive(Entity)]
#[partition_key(tenant, user)]
#[row_key(id)]
pub struct Event {
    tenant: String,
    user: Option<String>,
    id: u32,
}

fn main() {}
