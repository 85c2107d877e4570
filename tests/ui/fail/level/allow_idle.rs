use table_core::Entity;

#[derive(Entity)]
#[entity(allow(low_cardinality, reason = "five tenants, loaded once"))]
#[partition_key("tenant_", active)]
#[row_key(id)]
pub struct Event {
    active: bool,
    id: u32,
}

fn main() {}
