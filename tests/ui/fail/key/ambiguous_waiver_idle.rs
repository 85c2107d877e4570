use table_core::Entity;

#[derive(Entity)]
#[entity(allow(ambiguous_row_key, reason = "the layout of another program"))]
#[partition_key(service)]
#[row_key(grain, "-", digits(4, number))]
pub struct Reminder {
    service: String,
    grain: String,
    number: u16,
}

fn main() {}
