use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use table_patterns::copies::CopyRelation;
use table_patterns::outbox::{Message, Outbox, Step};
use table_patterns::participant::{Changes, Participant};
use table_patterns::selection::{Point, Selection};
use table_patterns::work::{Delivery, Handler, Worker};
use table_patterns::{
    Engine, Entity, EntitySet, EntityStore, KeyPart, QueueName, Result, TableEntity,
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

/// The message for a closed ticket. Its handler informs the customer.
#[derive(Serialize, Deserialize)]
struct Closed {
    ticket: u32,
}

impl Message for Closed {
    const NAME: &'static str = "ticket closed";
    const VERSION: u32 = 1;
}

/// Adds a step to every write by this program that changes a ticket from open to closed.
struct Notifies;

impl Participant<Ticket> for Notifies {
    fn name(&self) -> &'static str {
        "notification"
    }

    fn changes(
        &self,
        old: Option<&Ticket>,
        new: Option<&Ticket>,
        out: &mut Changes,
    ) -> Result<()> {
        let is_open = |ticket: Option<&Ticket>| {
            ticket.and_then(|ticket| ticket.status) == Some(Status::Open)
        };
        if let Some(new) = new.filter(|_| is_open(old) && !is_open(new)) {
            out.add_step(Step::call(&Closed { ticket: new.number })?);
        }
        Ok(())
    }
}

/// Sends e-mails. Idempotent: a ticket that was reported is not reported again. A real program would
/// ask its mail service or read a table, because this list is lost when the program ends.
#[derive(Clone, Default)]
struct Mail(Arc<Mutex<Vec<u32>>>);

impl Handler<Closed> for Mail {
    async fn handle(&self, closed: &Closed, _: Delivery<'_>) -> Result<()> {
        let mut sent = self.0.lock().unwrap();
        if !sent.contains(&closed.ticket) {
            sent.push(closed.ticket);
        }
        Ok(())
    }
}

#[pollster::main]
async fn main() -> Result<()> {
    let store = Engine::open("helpdesk.db")?;
    let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("desk")?);
    outbox.create_queues().await?;
    let agents =
        store.entities_with_outbox::<Agent, _>(outbox.clone()).create_if_missing().await?;
    let desk = store.clone().with_participant::<Ticket>(Notifies);
    let tickets = desk.entities_with_outbox::<Ticket, _>(outbox.clone());
    let tickets = tickets.create_if_missing().await?;

    let close = Ticket::key("contoso", 3);
    tickets.update(close, |ticket| ticket.status = Some(Status::Closed)).await?;

    let mail = Mail::default();
    let worker =
        Worker::new(outbox).handler(mail.clone()).with_index_handler(&agents).with_index_handler(&tickets);
    worker.run_until_idle().await?; // a service calls `run`
    println!("{:?}", mail.0.lock().unwrap());
    assert_eq!(*mail.0.lock().unwrap(), [3]);
    Ok(())
}
