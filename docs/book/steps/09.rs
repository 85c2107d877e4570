use table_patterns::copies::CopyRelation;
use table_patterns::outbox::Outbox;
use table_patterns::selection::{Point, Selection};
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::{
    Engine, Entity, EntitySet, EntityStore, KeyPart, QueueName, Result, TableEntity,
};

#[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
enum Status {
    Open,
    Closed,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", set = DeskRow, feed, copies_from(Assignee))]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByStatus, row_key("status_", status, "_", desc(number)))]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
    text: String,
    status: Option<Status>,
    agent: Option<u32>,
    agent_name: Option<String>, // a copy
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", set = DeskRow, copied_by(Assignee))]
#[partition_key(tenant)]
#[row_key("agent_", id)]
struct Agent {
    tenant: String,
    #[digits(4)]
    id: u32,
    name: String,
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
    Agent(Agent),
    #[other]
    Other(TableEntity),
}

/// The relation that copies an agent's name to the agent's tickets.
struct Assignee;

impl CopyRelation for Assignee {
    type Source = Agent;
    type Holder = Ticket;
    type Copied = String;
    const NAME: &'static str = "assignee";

    fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
        Some(Agent::key(&ticket.tenant, ticket.agent?))
    }

    fn copied(agent: &Agent) -> String {
        agent.name.clone()
    }

    fn set(ticket: &mut Ticket, name: String) {
        ticket.agent_name = Some(name);
    }

    fn clear(ticket: &mut Ticket) {
        (ticket.agent, ticket.agent_name) = (None, None);
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "DeskSums")]
#[partition_key(tenant)]
#[row_key("sums")]
struct Sums {
    tenant: String,
    tickets: i64,
    open: i64,
}

struct TicketSums;

impl View for TicketSums {
    type Source = Ticket;
    type Row = Sums;

    fn project(ticket: &Ticket, sums: &mut Projection<Sums>) -> Result<()> {
        let is_open = ticket.status == Some(Status::Open);
        sums.add(Sums::key(&ticket.tenant), Sums::TICKETS, 1)?;
        sums.add(Sums::key(&ticket.tenant), Sums::OPEN, is_open.into())
    }
}

#[pollster::main]
async fn main() -> Result<()> {
    let store = Engine::open("helpdesk.db")?;
    let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("desk")?);
    let tickets = store.entities_with_outbox::<Ticket, _>(outbox).create_if_missing().await?;
    let sums = ViewTable::<TicketSums, _>::new(store).create_if_missing().await?;

    // The feed records changes from now on. The rebuild counts the rows of steps 1 to 8.
    tickets.backfill_feed().assume_no_older_programs().run().await?;
    sums.rebuild().run().await?;
    let contoso = || Sums::key("contoso");
    let before = sums.table().await?.get(contoso()).await?.expect("it has tickets");
    assert_eq!((before.tickets, before.open), (23, 20), "run each step once");

    let close = Ticket::key("contoso", 4);
    tickets.update(close, |ticket| ticket.status = Some(Status::Closed)).await?;
    while sums.catch_up(1_000).await?.is_behind {}
    let after = sums.table().await?.get(contoso()).await?.expect("it has tickets");
    println!("{} of {} open", after.open, after.tickets);
    assert_eq!((after.tickets, after.open), (23, 19));
    Ok(())
}
