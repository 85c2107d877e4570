use table_core::Entity;

#[derive(Entity)]
#[partition_key(tenant, score)]
#[row_key(id)]
pub struct Event {
    tenant: String,
    score: f64,
    id: u32,
}

fn main() {}
