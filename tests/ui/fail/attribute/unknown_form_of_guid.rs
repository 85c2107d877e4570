use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(guid(hyphenated, id))]
struct Event {
    department: String,
    id: u128,
}

fn main() {}
