use table_core::Entity;

#[derive(Entity)]
#[partition_key("all")]
#[row_key(id)]
pub struct Event {
    id: u32,
    kind: String,
}

fn main() {}
