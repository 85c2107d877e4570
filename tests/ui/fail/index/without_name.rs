use table_core::Entity;

#[derive(Entity)]
#[index("ByKind", row_key("kind_", kind))]
#[partition_key(user)]
#[row_key("id_", id)]
pub struct Event {
    user: String,
    id: u32,
    kind: String,
}

fn main() {}
