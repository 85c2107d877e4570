use table_core::Entity;

#[derive(Entity)]
#[entity(allow(low_cardinalty, reason = "five tenants, loaded once"))]
#[partition_key(active, user)]
#[row_key(id)]
pub struct Event {
    active: bool,
    user: String,
    id: u32,
}

fn main() {}
