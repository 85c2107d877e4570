//! Arguments and methods of units of work in the style of other libraries. Each mistake is reported once.

use table_patterns::{Engine, Entities, Entity, EntityStore, Error};

#[derive(Entity, Clone)]
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
    let _ = tickets.unit("contoso")?; //~ T085
    let _ = tickets.unit([Ticket::partition("contoso"), Ticket::partition("fabrikam")])?; //~ T085
    tickets.transaction("contoso", async |unit| Ok::<_, Error>(drop(unit.insert(ticket)?))).await?; //~ T085
    let mut unit = tickets.unit(Ticket::partition("contoso"))?;
    unit.update(Ticket::key("contoso", 7), |ticket| ticket.status.clear())?; //~ T238
    unit.update(ticket, |ticket| ticket.status.clear())?; //~ T238
    unit.replace(ticket, ticket)?; //~ T238
    unit.delete(Ticket::key("contoso", 7))?; //~ T238
    let found = unit.get(Ticket::key("contoso", 7)).await?;
    unit.update(&found, |ticket| ticket.status.clear())?; //~ T238
    unit.unchanged(&found)?; //~ T238
    let _ = unit.query(Ticket::partition("contoso")).collect().await?; //~ T237
    let _ = unit.get_many([Ticket::key("contoso", 7)]).await?; //~ T237
    unit.insert_or_replace(ticket)?; //~ T239
    unit.upsert(ticket)?; //~ T239
    unit.add(ticket)?.rollback(); //~ T239
    unit.save_changes().await?; //~ T239
    unit.submit().await?; //~ T239
    unit.rollback(); //~ T239
    unit.abort(); //~ T239
    Ok(())
}

async fn stores(store: &Engine, ticket: &Ticket) -> table_patterns::Result<()> {
    let mut unit = store.unit("contoso")?; //~ T270
    unit.insert(ticket)?;
    unit.commit().await?;
    store.transaction("contoso", async |unit: ()| {}).await?; //~ T270
    Ok(())
}

fn main() {}
