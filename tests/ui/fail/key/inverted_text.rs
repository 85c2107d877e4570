use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(inverted(100, user))]
pub struct Event {
    department: String,
    user: String,
}

fn main() {}
