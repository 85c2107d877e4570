use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(folded(lower, id))]
struct Event {
    department: String,
    id: u32,
}

fn main() {}
