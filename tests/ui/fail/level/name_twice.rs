use table_core::Entity;

#[derive(Entity)]
#[partition_key(tenant, user, user_is)]
#[row_key(id)]
pub struct Event {
    tenant: String,
    user: String,
    user_is: String,
    id: u32,
}

fn main() {}
