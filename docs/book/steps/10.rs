use table_patterns::copies::CopyRelation;
use table_patterns::outbox::Outbox;
use table_patterns::selection::{Point, Selection};
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

#[pollster::main]
async fn main() -> Result<()> {
    let store = Engine::open("helpdesk.db")?;
    let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("desk")?);
    let tickets =
        store.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing().await?;

    // The index rows agree with the tickets, and no work is waiting or has failed.
    assert!(tickets.check().run().await?.is_clean());
    let backlog = outbox.backlog().await?;
    assert_eq!((backlog.waiting, backlog.poison), (0, 0));

    // Make a backup. As a drill, restore it, verify it and query it.
    store.backup("helpdesk.backup").await?;
    store.close().await?;
    Engine::restore("helpdesk.backup", "helpdesk.restored")?;
    let restored = Engine::open("helpdesk.restored")?;
    assert!(restored.verify()?.is_whole());
    let outbox = Outbox::new(restored.clone(), restored.clone(), QueueName::new("desk")?);
    let tickets =
        restored.entities_with_outbox::<Ticket, _>(outbox).create_if_missing().await?;
    let open = tickets.query(Ticket::by_status("contoso", Status::Open)).collect().await?;
    println!("{} open tickets in the backup", open.len());
    assert_eq!(open.len(), 19);
    Ok(())
}
