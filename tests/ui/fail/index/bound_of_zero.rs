use table_core::Entity;

#[derive(Entity)]
#[index_entity(ByKind, at_most = 0, row_key("kind_", kind))]
#[partition_key(user)]
#[row_key("id_", id)]
pub struct Event {
    user: String,
    id: u32,
    kind: String,
}

fn main() {}
