use table_patterns::{Engine, Entity, Result, TableStoreExt};

#[derive(Entity)]
#[entity(table = "Desk", feed)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
struct Ticket {
    tenant: String,
    number: u32,
}

async fn write(store: Engine, ticket: Ticket) -> Result<()> {
    store.table::<Ticket>().insert(&ticket).await?;
    Ok(())
}

fn main() {}
