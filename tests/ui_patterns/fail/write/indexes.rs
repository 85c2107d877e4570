//! Indexes where the key of an entity is expected, and reads of an index with the functions for the other consistency.

use table_patterns::outbox::Outbox;
use table_patterns::{Engine, Entities, Entity, IfMatch, Result};

#[derive(Entity, Clone)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByCode, unique, row_key("code_", code))]
#[index(Codes, unique, table = "Codes", partition_key(code), row_key("code"))]
#[index_entity(SameCode, at_most = 100, row_key("same_", code))]
#[index_entity(AnyCode, at_most = 100, table = "AnyCodes", row_key(code))]
struct Ticket {
    tenant: String,
    number: u32,
    code: String,
}

async fn uses(tickets: &Entities<Ticket, Engine, Outbox<Engine, Engine>>) -> Result<()> {
    tickets.delete(Ticket::by_code("contoso", "A-1"), IfMatch::Any).await?; //~ T248
    tickets.patch(Ticket::by_code("contoso", "A-1")).set(Ticket::CODE, "A-2").send().await?; //~ T248
    let _ = tickets.get(Ticket::codes("A-1")).await?; //~ T249
    let _ = tickets.get_eventual(Ticket::by_code("contoso", "A-1")).await?; //~ T249
    let _ = tickets.query_eventual(Ticket::partition("contoso")).collect().await?; //~ T249
    let _ = tickets.get_by_index(Ticket::any_code("contoso", "A-1")).await?; //~ T249
    let _ = tickets.get_by_index_eventual(Ticket::same_code("contoso", "A-1")).await?; //~ T249
    let mut unit = tickets.unit(Ticket::partition("contoso"))?;
    let _ = unit.get(Ticket::by_code("contoso", "A-1")).await?; //~ T248
    let _ = unit.get_as::<Ticket, _>(Ticket::by_code("contoso", "A-1")).await?; //~ T248
    let _ = tickets.begin().await?; //~ T202
    Ok(())
}

fn main() {}
