use table_patterns::group::{Many, One};
use table_patterns::{
    Engine, Entity, EntityGroup, EntitySet, EntityStore, KeyPart, TableEntity,
};

#[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
enum Status {
    Open,
    Closed,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", set = DeskRow)]
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

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", set = DeskRow)]
#[partition_key(tenant)]
#[row_key("ticket_", ticket, "_", number)] // sorts directly after its ticket
struct Comment {
    tenant: String,
    #[digits(6)]
    ticket: u32,
    #[digits(4)]
    number: u32,
    text: String,
}

/// All entity types in the table. A read of tickets skips rows of other types.
#[derive(EntitySet)]
enum DeskRow {
    Ticket(Ticket),
    Comment(Comment),
    #[other]
    Other(TableEntity),
}

#[derive(EntityGroup)]
#[entity_group(under = Ticket)]
struct TicketWithComments {
    ticket: One<Ticket>,
    comments: Many<Comment>,
}

#[pollster::main]
async fn main() -> table_patterns::Result<()> {
    let store = Engine::open("helpdesk.db")?;
    let tickets = store.entities::<Ticket>().create_if_missing().await?;

    // The ticket is closed and the comment is written in one transaction.
    let ticket = tickets.get(Ticket::key("contoso", 1)).await?.expect("from step 2");
    let mut unit = tickets.unit(Ticket::partition("contoso"))?;
    unit.update(&ticket, |ticket| ticket.status = Some(Status::Closed))?;
    let text = "It was unplugged.".to_owned();
    unit.insert(&Comment { tenant: "contoso".into(), ticket: 1, number: 1, text })?;
    unit.commit().await?;

    // One request reads the ticket and its comments.
    let group: TicketWithComments =
        tickets.table().read_group(Ticket::key("contoso", 1)).await?;
    assert_eq!((group.ticket.status, group.comments.len()), (Some(Status::Closed), 1));
    let open = tickets.query(Ticket::by_status("contoso", Status::Open)).collect().await?;
    println!("{} open", open.len());
    Ok(())
}
