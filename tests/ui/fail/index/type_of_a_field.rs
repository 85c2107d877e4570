use table_core::Entity;

use self::facts::TicketFacts;

mod facts {
    pub type TicketFacts = i32;
}

#[derive(Entity)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(Facts, unique, row_key("facts_", number))]
pub struct Ticket {
    tenant: String,
    number: u32,
    facts: TicketFacts,
}

fn main() {}
