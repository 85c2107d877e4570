//! The workload threads for the help desk. They change agents, open tickets with gapless numbers, add comments and attachments, and close tickets.

use examples::model::helpdesk::{Agent, DeskQuestions, Status, Ticket, TicketLine, TicketWithComments};
use rand::RngExt;
use table_core::{Error, ErrorCode, Result, Versioned};
use table_patterns::large::whole;

use super::helpdesk::{AGENTS, TENANTS, agent_entry, attached, comment, name_in, opened, text, ticket_entry};
use super::ledger::Kind;
use super::workload::Hand;

impl Hand<'_> {
    /// Changes an agent, or a ticket opened by this writer.
    pub(super) async fn desk(&mut self) -> Result<()> {
        let tenant = TENANTS[self.number % TENANTS.len()];
        if self.random.random_range(0..8_u32) == 0 {
            return self.agent(tenant).await;
        }
        match self.own_ticket(tenant).await? {
            Some(ticket) if self.random.random_range(0..3_u32) > 0 => self.change_ticket(&ticket).await,
            _ => self.open_ticket(tenant).await,
        }
    }

    /// Changes an agent. Two threads serve each tenant. One changes the agents with even numbers, and the other changes the agents with odd numbers.
    async fn agent(&mut self, tenant: &str) -> Result<()> {
        let half = u32::try_from(self.number / TENANTS.len() % 2).unwrap_or_default();
        let id = 1 + half + 2 * self.random.random_range(0..AGENTS / 2);
        let agent = Agent {
            tenant: tenant.to_owned(),
            id,
            name: format!("Agent{}", self.random.random_range(0..1_000_u32)),
            email: format!("e{}@{tenant}.example", self.random.random_range(0..6_u32)),
        };
        let (key, value) = agent_entry(&agent);
        let (agents, point) = (&self.stores.desk.agents, || Agent::key(tenant, id));
        let (at, leaves) = ((Kind::Agent, key), self.random.random_range(0..6_u32) == 0);
        match agents.get(point()).await? {
            None => self.make(at, Some(value), agents.insert(&agent)).await,
            Some(found) if leaves => self.make(at, None, agents.delete(point(), found.etag())).await,
            Some(_) => self.make(at, Some(value), agents.update(point(), |now| now.clone_from(&agent))).await,
        }
    }

    /// Returns one of the tickets that this thread has opened. Apart from the workers, no other thread changes them.
    async fn own_ticket(&mut self, tenant: &str) -> Result<Option<Versioned<Ticket>>> {
        let newest = self.stores.desk.tickets.query(DeskQuestions::open(tenant)).project::<TicketLine>();
        let Some(newest) = newest.limit(1).collect().await?.pop() else { return Ok(None) };
        let number = self.random.random_range(1..=newest.number);
        let found = self.stores.desk.tickets.get(Ticket::key(tenant, number)).await?;
        let own = format!("/{}/", self.own);
        Ok(found.filter(|ticket| name_in(&ticket.text).contains(&own)))
    }

    async fn open_ticket(&mut self, tenant: &str) -> Result<()> {
        let name = format!("{}/{}/{}", self.round, self.own, self.step);
        let ticket = Ticket {
            tenant: tenant.to_owned(),
            number: 0,
            status: Status::Open,
            priority: self.random.random_range(1..=5),
            agent: self.some_agent(tenant).await?,
            agent_name: None,
            created: opened(0),
            text: text(&name, if self.random.random_range(0..10_u32) == 0 { 12_000 } else { 3 }),
            attachment: None,
        };
        let comments = self.random.random_range(0..3_usize);
        let change = self.stores.desk.numbers.next(Ticket::partition(tenant), |number, unit| {
            let ticket = Ticket { number, created: opened(number), ..ticket.clone() };
            unit.insert(&ticket)?;
            (1..=comments).try_for_each(|number| unit.insert(&comment(&ticket, number)).map(drop))
        });
        self.make((Kind::Ticket, name), Some(ticket_entry(&ticket, comments)), change).await
    }

    async fn change_ticket(&mut self, found: &Versioned<Ticket>) -> Result<()> {
        let (desk, point) = (&self.stores.desk, || Ticket::key(&found.tenant, found.number));
        let group: TicketWithComments = desk.tickets.table().read_group(point()).await?;
        let comments = group.comments.len();
        let at = (Kind::Ticket, name_in(&found.text).to_owned());
        let mut new = found.value().clone();
        match self.random.random_range(0..5_u32) {
            0 => {
                let mut unit = desk.tickets.unit(Ticket::partition(&found.tenant))?;
                unit.require(point())?.insert(&comment(found, comments + 1))?;
                self.make(at, Some(ticket_entry(found, comments + 1)), unit.commit()).await
            }
            1 => {
                let contents = [Ticket::ATTACHMENT_BLOB.content(whole(attached(found)))];
                let value = ticket_entry(found, comments).replace("false", "true");
                self.make(at, Some(value), desk.attachments.set(point(), contents)).await
            }
            2 => {
                new.status = Status::Closed;
                let change = |ticket: &mut Ticket| ticket.status = Status::Closed;
                self.make(at, Some(ticket_entry(&new, comments)), desk.tickets.update(point(), change)).await
            }
            3 => {
                let agent = self.some_agent(&found.tenant).await?;
                let change = |ticket: &mut Ticket| (ticket.agent, ticket.agent_name) = (agent, None);
                self.make(at, Some(ticket_entry(&new, comments)), desk.tickets.update(point(), change)).await
            }
            _ => {
                new.priority = self.random.random_range(1..=5);
                let priority = new.priority;
                let change = |ticket: &mut Ticket| ticket.priority = priority;
                self.make(at, Some(ticket_entry(&new, comments)), desk.tickets.update(point(), change)).await
            }
        }
    }

    /// Returns a random agent, or `None` if this agent does not exist. If the agent is deleted before the ticket is written, the write is rejected.
    async fn some_agent(&mut self, tenant: &str) -> Result<Option<u32>> {
        let id = self.random.random_range(0..=AGENTS);
        Ok(self.stores.desk.agents.get(Agent::key(tenant, id)).await?.map(|agent| agent.id))
    }
}

/// Returns `true` if a ticket was not written because its agent no longer existed.
pub(super) fn has_no_agent(error: &Error) -> bool {
    error.code() == ErrorCode::ResourceNotFound && error.rule() == Some("PAT-DEN-2")
}
