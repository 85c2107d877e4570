use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(hex(8, id))]
pub struct Event {
    department: String,
    id: i32,
}

fn main() {}
