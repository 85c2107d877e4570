//! Wrong arguments of methods of `Entities`. Each wrong argument is reported once.

use table_patterns::{Engine, Entities, Entity, IfMatch};

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

async fn writes(tickets: &Entities<Ticket, Engine>, ticket: &Ticket) -> table_patterns::Result<()> {
    tickets.delete(Ticket::partition("contoso"), IfMatch::Any).await?; //~ T084
    tickets.delete(ticket, IfMatch::Any).await?; //~ T084
    tickets.update(Ticket::partition("contoso"), |ticket| ticket.status.clear()).await?; //~ T208
    tickets.try_update("ticket_7", |_| Ok(())).await?; //~ T208
    tickets.update(Ticket::key("contoso", 7), async |ticket: &mut Ticket| ticket.status.clear()).await?; //~ T243
    tickets.try_update(Ticket::key("contoso", 7), ticket).await?; //~ T243
    tickets.replace(ticket, "*").await?; //~ T207
    tickets.merge(ticket, None).await?; //~ T207
    tickets.delete(Ticket::key("contoso", 7), ticket).await?; //~ T207
    tickets.patch(Ticket::key("contoso", 7_u32)).set(Ticket::NUMBER, 8).send().await?; //~ T130
    tickets.bulk().insert_all(ticket).await?; //~ T217
    tickets.bulk().delete_all([ticket]).await?; //~ T218
    Ok(())
}

fn main() {}
