use table_patterns::sequence::GaplessSequence;
use table_patterns::{
    Continuation, Engine, Entity, EntitySet, EntityStore, KeyPart, Projection, TableEntity,
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

/// The properties of a ticket that a list of tickets shows.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Ticket)]
struct Line {
    number: u32,
    text: String,
}

/// Returns a page of open tickets, and the cursor for the next page.
async fn page(
    store: &Engine,
    after: Option<String>,
) -> table_patterns::Result<(Vec<u32>, Option<String>)> {
    let tickets = store.entities::<Ticket>().create_if_missing().await?;
    let query = tickets.query(Ticket::by_status("contoso", Status::Open));
    let query = query.project::<Line>().page_size(10);
    let page = match after {
        None => query.page().await?,
        Some(after) => query.page_from(&after.parse::<Continuation>()?).await?,
    };
    let numbers = page.items.iter().map(|line| line.number).collect();
    Ok((numbers, page.continuation.map(|next| next.to_string())))
}

#[pollster::main]
async fn main() -> table_patterns::Result<()> {
    let store = Engine::open("helpdesk.db")?;
    let tickets = store.entities::<Ticket>().create_if_missing().await?;
    let numbers = GaplessSequence::new(&tickets, "ticket")?;
    for _ in 0..20 {
        // Sample tickets, which fill two pages.
        numbers
            .next(Ticket::partition("contoso"), |number, unit| {
                let (tenant, text) = ("contoso".to_owned(), "It beeps again.".to_owned());
                unit.insert(&Ticket { tenant, number, text, status: Some(Status::Open) })
                    .map(drop)
            })
            .await?;
    }

    let (first, next) = page(&store, None).await?;
    let (second, next) = page(&store, next).await?;
    let (third, next) = page(&store, next).await?;
    let shown = (first[0], second[0], third.as_slice());
    assert_eq!(shown, (22, 12, [2].as_slice()), "run each step once");
    assert_eq!(next, None);
    println!("{} open", first.len() + second.len() + third.len());
    Ok(())
}
