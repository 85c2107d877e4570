use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(digits(id, 6))]
struct Event {
    department: String,
    id: u32,
}

fn main() {}
