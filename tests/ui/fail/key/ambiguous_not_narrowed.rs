use table_core::Entity;

#[derive(Entity)]
#[entity(allow(ambiguous_row_key, reason = "the layout of another program"))]
#[partition_key(service)]
#[row_key(grain, "-", name)]
pub struct Reminder {
    service: String,
    grain: String,
    name: String,
}

fn main() {
    Reminder::key("shop", "a", "b");
    Reminder::rows("shop").grain_is("a");
}
