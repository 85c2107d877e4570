use table_patterns::sequence::GaplessSequence;
use table_patterns::{Engine, Entity, EntityStore};

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
    let store = Engine::open("helpdesk.db")?;
    let tickets = store.entities::<Ticket>().create_if_missing().await?;

    let numbers = GaplessSequence::new(&tickets, "ticket")?;
    for text in ["It is silent.", "It smells."] {
        // The number and the ticket are written in one transaction.
        let number = numbers
            .next(Ticket::partition("contoso"), |number, unit| {
                let tenant = "contoso".to_owned();
                unit.insert(&Ticket { tenant, number, text: text.into() }).map(drop)
            })
            .await?;
        println!("ticket {number}");
    }

    let new = tickets.query(Ticket::rows("contoso").number(1..900_000)).collect().await?;
    assert_eq!(new.len(), 2, "run each step once");
    Ok(())
}
