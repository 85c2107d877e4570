//! The entities of the help desk (tenants with agents, tickets and comments) and its queries.

pub mod next;

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use table_core::group::{Many, One};
use table_core::selection::{Copies, Point, Selection};
use table_core::{Entity, EntityGroup, EntitySet, KeyPart, Projection, Result, TableEntity, access_patterns};
use table_patterns::blob::BlobRef;
use table_patterns::copies::{CopyRelation, OnDelete};
use table_patterns::large::Large;
use table_patterns::outbox::{Message, Step};
use table_patterns::participant::{Changes, Participant};
use table_patterns::periods::{Period, Periodic};
use table_patterns::view::{Projection as Sums, View};

/// The status of a ticket.
#[derive(KeyPart, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The ticket is in progress.
    Open,
    /// The work on the ticket has been completed.
    Closed,
}

/// A ticket. Example key: (`contoso`, `ticket_000017`).
#[allow(clippy::duplicated_attributes, reason = "its indexes share attributes")]
#[derive(Entity, Large, Clone, Debug, PartialEq)]
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
pub struct Ticket {
    /// The name of the tenant, a customer of the service.
    pub tenant: String,
    /// The ticket number. A tenant's tickets are numbered consecutively, without gaps.
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
    #[blob]
    pub attachment: Option<BlobRef>,
}

/// A line in a list of tickets. Index rows contain the properties of this line.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Ticket)]
pub struct TicketLine {
    /// The ticket number within the tenant.
    pub number: u32,
    /// The priority, where 1 is the most urgent.
    pub priority: i32,
    /// The name of the assigned agent, copied from the agent.
    pub agent_name: Option<String>,
}

/// A comment. It sorts after its ticket. Example key: (`contoso`, `ticket_000017_0001`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "HelpDesk", set = HelpDesk)]
#[partition_key(tenant)]
#[row_key("ticket_", ticket, "_", number)]
pub struct Comment {
    /// The name of the tenant.
    pub tenant: String,
    /// The ticket number.
    #[digits(6)]
    pub ticket: u32,
    /// The comment number within its ticket, counted from 1.
    #[digits(4)]
    pub number: u32,
    /// The text of the comment.
    pub text: String,
}

/// A ticket with its comments. Their rows form one range.
#[derive(EntityGroup, Debug)]
#[entity_group(under = Ticket)]
pub struct TicketWithComments {
    /// The ticket.
    pub ticket: One<Ticket>,
    /// The comments, in order.
    pub comments: Many<Comment>,
}

/// All entity types in the partition of a tenant. If tickets are read, the comments between them are skipped.
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

/// An agent. Example key: (`contoso`, `staff_0007`).
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

/// The number of open tickets and of all tickets of a tenant. A view keeps it up to date. Example key: (`contoso`, `sums`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "HelpDeskSums")]
#[partition_key(tenant)]
#[row_key("sums")]
pub struct TenantSums {
    /// The name of the tenant.
    pub tenant: String,
    /// The number of open tickets.
    pub open: i64,
    /// The total number of tickets.
    pub tickets: i64,
}

/// The view that keeps [`TenantSums`] up to date.
#[derive(Debug)]
pub struct SumsOfTenants;

impl View for SumsOfTenants {
    type Source = Ticket;
    type Row = TenantSums;

    fn project(ticket: &Ticket, sums: &mut Sums<TenantSums>) -> Result<()> {
        let key = || TenantSums::key(&ticket.tenant);
        sums.add(key(), TenantSums::OPEN, i64::from(ticket.status == Status::Open))?;
        sums.add(key(), TenantSums::TICKETS, 1)
    }
}

/// The number of tickets opened by a tenant in one hour. The keys are the tenant and the hour.
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "HelpDeskHours")]
#[partition_key(tenant)]
#[row_key(hour)]
pub struct HourSums {
    /// The name of the tenant.
    pub tenant: String,
    /// The start of the hour.
    pub hour: DateTime<Utc>,
    /// The number of tickets opened in this hour.
    pub tickets: i64,
}

/// The view that keeps [`HourSums`] up to date.
#[derive(Debug)]
pub struct TicketsAnHour;

impl View for TicketsAnHour {
    type Source = Ticket;
    type Row = HourSums;

    fn project(ticket: &Ticket, hours: &mut Sums<HourSums>) -> Result<()> {
        let hour = ticket.created.duration_trunc(TimeDelta::hours(1)).unwrap_or(ticket.created);
        hours.add(HourSums::key(&ticket.tenant, hour), HourSums::TICKETS, 1)
    }
}

/// An entry in the audit log, stored in the table of its day.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "HelpDeskAudit")]
#[partition_key(tenant)]
#[row_key(at, "_", ticket)]
pub struct AuditEntry {
    /// The name of the tenant.
    pub tenant: String,
    /// The time of the change.
    pub at: DateTime<Utc>,
    /// The number of the changed ticket.
    #[digits(6)]
    pub ticket: u32,
    /// A description of the change.
    pub change: String,
}

impl Periodic for AuditEntry {
    const PERIOD: Period = Period::Day;

    fn instant(&self) -> DateTime<Utc> {
        self.at
    }
}

/// A message about a closed ticket. Its handler notifies the customer and writes an entry to the audit log.
#[derive(Serialize, Deserialize, Debug)]
pub struct Closed {
    /// The name of the tenant.
    pub tenant: String,
    /// The number of the closed ticket.
    pub ticket: u32,
    /// The time the ticket was closed, in ticks.
    pub at: u64,
}

impl Message for Closed {
    const NAME: &'static str = "ticket closed";
    const VERSION: u32 = 1;
}

/// A notification sent to the customer. Each ticket has at most one.
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "HelpDeskMail")]
#[partition_key(tenant)]
#[row_key("mail_", ticket)]
pub struct Mail {
    /// The name of the tenant.
    pub tenant: String,
    /// The ticket number.
    #[digits(6)]
    pub ticket: u32,
}

/// A participant that runs with each change. If a change closes a ticket, the participant adds an intent with a [`Closed`] message. An intent is a record of
/// work that remains to be done.
#[derive(Clone, Copy, Debug)]
pub struct Notifies;

impl Participant<Ticket> for Notifies {
    fn name(&self) -> &'static str {
        "notification"
    }

    fn changes(&self, old: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
        let is_closed = |ticket: &Ticket| ticket.status == Status::Closed;
        if let (Some(old), Some(new)) = (old, new)
            && is_closed(new)
            && !is_closed(old)
        {
            let closed = Closed { tenant: new.tenant.clone(), ticket: new.number, at: out.ticks() };
            out.add_step(Step::call(&closed)?);
        }
        Ok(())
    }
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

access_patterns! {
    /// The queries of the help desk, each with a maximum cost class.
    pub DeskQuestions for Ticket {
        /// One ticket.
        ticket(tenant: &str, number: u32) <= point = Ticket::key(tenant, number);
        /// A tenant's open tickets, newest first.
        open(tenant: &str) <= range from Copies<TicketByStatus> = Ticket::by_status(tenant, Status::Open);
        /// An agent's tickets with a given status, newest first.
        of_agent(tenant: &str, agent: u32, status: Status) <= range from Copies<TicketByAgent> =
            Ticket::by_agent(tenant, agent, status);
        /// The tickets opened between two times.
        opened(tenant: &str, from: DateTime<Utc>, until: DateTime<Utc>) <= range from Copies<TicketByCreated> =
            Ticket::by_created_rows(tenant).created(from..until);
        /// All rows of a tenant, for an export.
        of_tenant(tenant: &str) <= range = Ticket::rows(tenant);
    }
}
