use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(folded(lower, id))]
pub struct Event {
    department: String,
    id: u32,
}

fn main() {}
