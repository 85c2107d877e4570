use table_patterns::{Engine, Entity, TableStoreExt};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
    text: String,
}

#[pollster::main]
async fn main() -> table_patterns::Result<()> {
    let store = Engine::open("helpdesk.db")?; // a folder
    let tickets = store.table::<Ticket>().create_if_missing().await?;

    // A ticket from the old system, whose numbers start at 900,001.
    let old =
        Ticket { tenant: "contoso".into(), number: 900_001, text: "It beeps.".into() };
    tickets.insert_or_replace(&old).await?;

    let found = tickets.get(Ticket::key("contoso", 900_001)).await?.expect("just written");
    println!("{}: {}", found.number, found.text);
    Ok(())
}
