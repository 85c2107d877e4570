use table_core::Entity;

type Id = u16;

#[derive(Entity)]
#[partition_key(user)]
#[row_key(digits(6, id))]
pub struct Event {
    user: String,
    id: Id,
}

fn main() {}
