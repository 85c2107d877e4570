//! The next version of the help desk, in which tickets have a product and an index by product.

use super::{
    BlobRef, Comment, CopyRelation, DateTime, Entity, EntitySet, OnDelete, Point, Projection, Selection,
    Status, TableEntity, Utc,
};

/// A ticket with a product.
#[allow(clippy::duplicated_attributes, reason = "its indexes share attributes")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "HelpDesk", feed, copies_from(Assignee), set = HelpDesk)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByStatus, row_key("status_", status, "_", desc(number)), include(priority, created, agent_name))]
#[index(
    ByAgent,
    row_key("agent_", agent, "_", status, "_", desc(number)),
    include(priority, created, agent_name)
)]
#[index(ByCreated, row_key("created_", created, "_", number), include(status, priority, agent_name))]
#[index(ByPriority, row_key("priority_", priority, "_", number), include(created))]
pub struct Ticket {
    /// The name of the tenant, a customer of the service.
    pub tenant: String,
    /// The ticket number within the tenant.
    #[digits(6)]
    pub number: u32,
    /// The status of the ticket.
    pub status: Status,
    /// The priority, where 1 is the most urgent.
    pub priority: i32,
    /// The number of the assigned agent.
    #[digits(4)]
    pub agent: Option<u32>,
    /// The agent's name, copied from the agent.
    pub agent_name: Option<String>,
    /// The time the ticket was opened.
    pub created: DateTime<Utc>,
    /// The text of the ticket, up to 200 KB.
    #[property(chunks)]
    pub text: String,
    /// The address of an attached file, up to 5 MB.
    pub attachment: Option<BlobRef>,
    /// The product that the ticket is about. Tickets written by the first version have none.
    pub product: Option<String>,
}

/// An agent, declared as in the first version.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "HelpDesk", copied_by(Assignee), set = HelpDesk)]
#[partition_key(tenant)]
#[row_key("staff_", id)]
#[index(ByEmail, unique, row_key("email_", escaped(email)))]
pub struct Agent {
    /// The name of the tenant.
    pub tenant: String,
    /// The agent number within the tenant.
    #[digits(4)]
    pub id: u32,
    /// The name of the agent. It is copied to the agent's tickets.
    pub name: String,
    /// The e-mail address, which is unique within the tenant.
    pub email: String,
}

/// The relation that copies the name of an agent to the agent's tickets.
#[derive(Debug)]
pub struct Assignee;

impl CopyRelation for Assignee {
    type Source = Agent;
    type Holder = Ticket;
    type Copied = String;
    const NAME: &'static str = "assignee";
    const ON_DELETE: OnDelete = OnDelete::Clear;

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

/// All entity types in the partition of a tenant.
#[derive(EntitySet, Clone, Debug, PartialEq)]
pub enum HelpDesk {
    /// A ticket.
    Ticket(Ticket),
    /// A comment.
    Comment(Comment),
    /// An agent.
    Agent(Agent),
    /// An index row, or a row of an unknown type.
    #[other]
    Other(TableEntity),
}

/// A line in a list of tickets by priority.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Ticket)]
pub struct UrgentLine {
    /// The ticket number within the tenant.
    pub number: u32,
    /// The time the ticket was opened.
    pub created: DateTime<Utc>,
}
