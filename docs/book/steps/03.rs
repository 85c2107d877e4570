use table_patterns::{Engine, Entity, EntityStore, KeyPart};

#[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
enum Status {
    Open,
    Closed,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
    text: String,
    status: Option<Status>, // `None` in rows of steps 1 and 2
}

#[pollster::main]
async fn main() -> table_patterns::Result<()> {
    let store = Engine::open("helpdesk.db")?;
    let tickets = store.entities::<Ticket>().create_if_missing().await?;

    let all = tickets.query(Ticket::rows("contoso")).collect().await?;
    assert!(all.iter().all(|ticket| ticket.status.is_none()), "run each step once");

    tickets
        .update(Ticket::key("contoso", 1), |ticket| ticket.status = Some(Status::Open))
        .await?;
    tickets
        .update(Ticket::key("contoso", 2), |ticket| ticket.status = Some(Status::Open))
        .await?;
    let old = Ticket::key("contoso", 900_001);
    tickets.update(old, |ticket| ticket.status = Some(Status::Closed)).await?;
    println!("{} tickets have a status", all.len());
    Ok(())
}
