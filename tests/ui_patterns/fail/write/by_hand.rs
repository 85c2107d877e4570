use table_patterns::{Entity, PlainEntity};

#[derive(Entity)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByStatus, row_key("status_", status, "_", number))]
struct Ticket {
    tenant: String,
    number: u32,
    #[without('_')]
    status: String,
}

impl PlainEntity for Ticket {}

fn main() {}
