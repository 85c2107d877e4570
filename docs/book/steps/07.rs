use table_patterns::copies::CopyRelation;
use table_patterns::outbox::Outbox;
use table_patterns::selection::{Point, Selection};
use table_patterns::work::Worker;
use table_patterns::{
    Engine, Entity, EntitySet, EntityStore, KeyPart, QueueName, TableEntity,
};

#[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
enum Status {
    Open,
    Closed,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", set = DeskRow, copies_from(Assignee))]
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
async fn main() -> table_patterns::Result<()> {
    let store = Engine::open("helpdesk.db")?;
    let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("desk")?);
    outbox.create_queues().await?;
    let agents =
        store.entities_with_outbox::<Agent, _>(outbox.clone()).create_if_missing().await?;
    let tickets =
        store.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing().await?;

    let ada = Agent { tenant: "contoso".into(), id: 7, name: "Ada".into() };
    agents.insert_or_replace(&ada).await?;
    tickets.update(Ticket::key("contoso", 2), |ticket| ticket.agent = Some(7)).await?;
    let ticket = tickets.get(Ticket::key("contoso", 2)).await?.expect("from step 2");
    assert_eq!(ticket.agent_name.as_deref(), Some("Ada"));

    agents.update(Agent::key("contoso", 7), |ada| ada.name = "Ada Lovelace".into()).await?;
    // Here the copies are in the agent's partition, so the update has written them. The worker
    // would write copies and index rows in other partitions.
    Worker::new(outbox)
        .with_index_handler(&agents)
        .with_index_handler(&tickets)
        .run_until_idle()
        .await?;
    let ticket = tickets.get(Ticket::key("contoso", 2)).await?.expect("from step 2");
    println!("{:?}", ticket.agent_name);
    assert_eq!(ticket.agent_name.as_deref(), Some("Ada Lovelace"));
    Ok(())
}
