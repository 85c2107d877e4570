use table_core::Entity;

#[derive(Entity)]
#[partition_key(without('_', tenant), user)]
#[row_key(id)]
pub struct Event {
    tenant: String,
    user: String,
    id: u32,
}

fn main() {}
