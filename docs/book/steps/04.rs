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
#[index(ByStatus, row_key("status_", status, "_", desc(number)))]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
    text: String,
    status: Option<Status>,
}

#[pollster::main]
async fn main() -> table_patterns::Result<()> {
    let store = Engine::open("helpdesk.db")?;
    let tickets = store.entities::<Ticket>().create_if_missing().await?;

    // The index is new but the rows are not, so it can be queried only after its backfill.
    let report =
        tickets.backfill::<TicketByStatus>().assume_no_older_programs().run().await?;
    println!("{} tickets were read", report.scanned);

    let open = tickets.query(Ticket::by_status("contoso", Status::Open)).collect().await?;
    let numbers: Vec<u32> = open.iter().map(|ticket| ticket.number).collect();
    assert_eq!(numbers, [2, 1]); // the newest first
    let closed =
        tickets.query(Ticket::by_status("contoso", Status::Closed)).collect().await?;
    assert_eq!(closed.len(), 1);
    Ok(())
}
