//! Tests the statement on the page about copies that copied properties can be copied further.

use table_patterns::copies::CopyRelation;
use table_patterns::outbox::Outbox;
use table_patterns::selection::{Point, Selection};
use table_patterns::work::Worker;
use table_patterns::{BlockOn, Engine, Entity, EntityStore, QueueName, Result};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copied_by(OfAgent))]
#[partition_key(tenant)]
#[row_key("agent")]
struct Agent {
    tenant: String,
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copies_from(OfAgent), copied_by(OfTicket))]
#[partition_key(tenant)]
#[row_key("ticket")]
struct Ticket {
    tenant: String,
    title: String,
    agent_name: Option<String>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copies_from(OfTicket))]
#[partition_key(tenant)]
#[row_key("line")]
struct Line {
    tenant: String,
    title: Option<String>,
    agent_name: Option<String>,
}

struct OfAgent;

impl CopyRelation for OfAgent {
    type Source = Agent;
    type Holder = Ticket;
    type Copied = String;
    const NAME: &'static str = "agent";

    fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
        Some(Agent::key(&ticket.tenant))
    }

    fn copied(agent: &Agent) -> String {
        agent.name.clone()
    }

    fn set(ticket: &mut Ticket, name: String) {
        ticket.agent_name = Some(name);
    }

    fn clear(ticket: &mut Ticket) {
        ticket.agent_name = None;
    }
}

/// A relation that copies two properties from a ticket. One was set on the ticket, and the ticket has copied the other from an agent.
struct OfTicket;

impl CopyRelation for OfTicket {
    type Source = Ticket;
    type Holder = Line;
    type Copied = (String, Option<String>);
    const NAME: &'static str = "ticket";

    fn reference(line: &Line) -> Option<Selection<Ticket, Point>> {
        Some(Ticket::key(&line.tenant))
    }

    fn copied(ticket: &Ticket) -> Self::Copied {
        (ticket.title.clone(), ticket.agent_name.clone())
    }

    fn set(line: &mut Line, (title, agent_name): Self::Copied) {
        (line.title, line.agent_name) = (Some(title), agent_name);
    }

    fn clear(line: &mut Line) {
        (line.title, line.agent_name) = (None, None);
    }
}

async fn check() -> Result<()> {
    let store = Engine::in_memory();
    let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("desk")?);
    outbox.create_queues().await?;
    let agents = store.entities_with_outbox::<Agent, _>(outbox.clone()).create_if_missing().await?;
    let tickets = store.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing().await?;
    let lines = store.entities_with_outbox::<Line, _>(outbox.clone()).create_if_missing().await?;
    let tenant = || "contoso".to_owned();
    agents.insert(&Agent { tenant: tenant(), name: "Ada".into() }).await?;
    tickets.insert(&Ticket { tenant: tenant(), title: "It beeps".into(), agent_name: None }).await?;
    lines.insert(&Line { tenant: tenant(), title: None, agent_name: None }).await?;
    let worker = Worker::new(outbox);
    let worker = worker.with_index_handler(&agents).with_index_handler(&tickets).with_index_handler(&lines);

    agents.update(Agent::key("contoso"), |agent| agent.name = "Ben".into()).await?;
    let line = lines.get(Line::key("contoso")).await?.unwrap();
    assert_eq!(line.agent_name.as_deref(), Some("Ada"), "a worker updates the second copy");
    worker.run_until_idle().await?;
    let ticket = tickets.get(Ticket::key("contoso")).await?.unwrap();
    let line = lines.get(Line::key("contoso")).await?.unwrap();
    assert_eq!((ticket.agent_name.as_deref(), line.agent_name.as_deref()), (Some("Ben"), Some("Ben")));

    // A change to the ticket is applied to the copies as well.
    tickets.update(Ticket::key("contoso"), |ticket| ticket.title = "It hums".into()).await?;
    worker.run_until_idle().await?;
    let line = lines.get(Line::key("contoso")).await?.unwrap();
    assert_eq!(line.title.as_deref(), Some("It hums"));
    Ok(())
}

#[test]
fn a_copy_of_a_copy_follows_the_first_source() {
    check().block_on().unwrap();
}
