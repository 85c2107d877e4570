//! Crash tests of the example help desk, with its entity types and its message handler. One entity type, the ticket, combines many patterns.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Duration, DurationRound, Utc};
use examples::helpdesk::work::Notifier;
use examples::model::helpdesk::{
    Agent, AuditEntry, Closed, Comment, HourSums, Mail, Notifies, Status, SumsOfTenants, TenantSums, Ticket,
    TicketWithComments, TicketsAnHour,
};
use futures_util::TryStreamExt;
use table_core::embedded::{Clock, Engine};
use table_core::{Error, ErrorCode, Result, TableStoreExt};
use table_patterns::Entities;
use table_patterns::EntityStore;
use table_patterns::blob::BlobRef;
use table_patterns::blob::object_store::ObjectStore;
use table_patterns::large::LargeTable;
use table_patterns::outbox::Outbox;
use table_patterns::participant::WithParticipants;
use table_patterns::periods::PeriodTables;
use table_patterns::sequence::GaplessSequence;
use table_patterns::view::{View, ViewTable};
use table_patterns::work::Worker;

use super::ledger::Values;
use super::stores::{content, instant};
use super::views::caught_up;

/// The tenants. Each has separate partitions.
pub(super) const TENANTS: [&str; 2] = ["contoso", "adatum"];
/// The number of agents per tenant. Agents are numbered from 1.
pub(super) const AGENTS: u32 = 4;
/// A limit for reads. It is greater than the number of rows that the workload can create.
const MOST: u64 = 10_000_000;

type Queue = Outbox<Engine, Engine>;
type Desk = WithParticipants<Engine>;

/// The table handles of the help desk. They share one engine.
#[derive(Clone, Debug)]
pub(super) struct HelpDesk {
    pub(super) store: Engine,
    pub(super) tickets: Entities<Ticket, Desk, Queue>,
    pub(super) agents: Entities<Agent, Desk, Queue>,
    pub(super) numbers: Arc<GaplessSequence<Ticket, Desk, Queue>>,
    pub(super) attachments: LargeTable<Ticket, Desk, Queue>,
    pub(super) blobs: Arc<dyn ObjectStore>,
    pub(super) sums: ViewTable<SumsOfTenants, Engine>,
    pub(super) hours: ViewTable<TicketsAnHour, Engine>,
    pub(super) audit: PeriodTables<AuditEntry, Engine>,
}

impl HelpDesk {
    pub(super) async fn open(outbox: &Queue, blobs: Arc<dyn ObjectStore>) -> Result<Self> {
        let store = outbox.store().clone();
        let desk = store.clone().with_participant::<Ticket>(Notifies);
        let tickets = desk.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing().await?;
        let agents = desk.entities_with_outbox::<Agent, _>(outbox.clone());
        store.table::<Mail>().create_if_missing().await?;
        let audit = PeriodTables::new(store.clone()).retain(90).precreate(1);
        audit.prepare().await?;
        Ok(Self {
            agents: agents.create_if_missing().await?,
            numbers: Arc::new(GaplessSequence::new(&tickets, "ticket")?),
            // The parts are so small that each upload consists of several parts.
            attachments: LargeTable::new(tickets.clone(), Arc::clone(&blobs), "attachments")
                .part_bytes(8 * 1024),
            sums: built(&store).await?,
            hours: built(&store).await?,
            tickets,
            blobs,
            audit,
            store,
        })
    }

    /// Registers the handlers of the help desk with the worker.
    pub(super) fn worker(&self, worker: Worker<Engine, Engine>) -> Worker<Engine, Engine> {
        let notifier = Notifier { store: self.store.clone(), audit: self.audit.clone() };
        worker.handler::<Closed>(notifier).with_index_handler(&self.agents).with_index_handler(&self.tickets)
    }

    pub(super) async fn collect_orphans(&self, clock: Clock) -> Result<()> {
        self.attachments.clone().with_clock(clock).collect_orphans().await.map(drop)
    }
}

/// Opens a view. Builds it unless an earlier process has completed it. A completed view is not built again, because the check must find its defects.
async fn built<V: View>(store: &Engine) -> Result<ViewTable<V, Engine>> {
    let view = ViewTable::<V, _>::new(store.clone()).create_if_missing().await?;
    match view.table().await {
        Err(error) if error.code() == ErrorCode::IndexNotReady => view.rebuild().run().await.map(drop)?,
        rows => drop(rows?),
    }
    Ok(view)
}

/// Returns the opening time of a ticket.
pub(super) fn opened(number: u32) -> DateTime<Utc> {
    instant(number / 6, number % 6 * 600_000)
}

/// Returns the text of a ticket: a name that its writer has chosen, and padding. The padding takes up to three properties.
pub(super) fn text(name: &str, filling: usize) -> String {
    format!("{name} {}", "It beeps. ".repeat(filling))
}

/// Returns the name at the start of a ticket's text.
pub(super) fn name_in(text: &str) -> &str {
    text.split_once(' ').map_or(text, |(name, _)| name)
}

/// Returns the value recorded for a ticket in the [evidence](super::ledger).
pub(super) fn ticket_entry(ticket: &Ticket, comments: usize) -> String {
    format!("{:?}/{}/{comments}/{}", ticket.status, ticket.priority, ticket.attachment.is_some())
}

/// Returns the key and value recorded for an agent in the [evidence](super::ledger).
pub(super) fn agent_entry(agent: &Agent) -> (String, String) {
    (format!("{}/{}", agent.tenant, agent.id), format!("{}:{}", agent.name, agent.email))
}

/// Returns the bytes of the attachment to a ticket.
pub(super) fn attached(ticket: &Ticket) -> Vec<u8> {
    content(i64::from(ticket.number) * 997 + 1)
}

/// The stored agents and tickets.
pub(super) struct Stored {
    pub(super) agents: Values,
    pub(super) tickets: Values,
}

/// Returns the data of the help desk. First, workers and views complete all pending work.
///
/// Every part is then checked against the tickets, agents and comments.
pub(super) async fn stored(desk: &HelpDesk, wrong: &mut Vec<String>) -> Result<Stored> {
    caught_up(&desk.sums).await?;
    caught_up(&desk.hours).await?;
    let mut stored = Stored { agents: Values::new(), tickets: Values::new() };
    let mut all = Vec::new();
    for tenant in TENANTS {
        let agents = desk.agents.query(Agent::rows(tenant)).collect().await?;
        let tickets = desk.tickets.query(Ticket::rows(tenant)).collect().await?;
        stored.agents.extend(agents.iter().map(agent_entry));
        let names: BTreeMap<u32, &str> = agents.iter().map(|agent| (agent.id, agent.name.as_str())).collect();
        for (ticket, number) in tickets.iter().zip(1..) {
            if ticket.number != number {
                wrong.push(format!(
                    "help desk: ticket {} of {tenant} has the place of {number}",
                    ticket.number
                ));
            }
            let name = ticket.agent.and_then(|agent| names.get(&agent).copied());
            if ticket.agent_name.as_deref() != name || ticket.agent.is_some() != name.is_some() {
                let Ticket { number, agent, agent_name, .. } = ticket;
                wrong.push(format!(
                    "help desk: ticket {number} shows {agent_name:?} of agent {agent:?}, who is {name:?}"
                ));
            }
            stored.tickets.insert(name_in(&ticket.text).to_owned(), whole(desk, ticket, wrong).await?);
        }
        all.extend(tickets);
    }
    for findings in [desk.tickets.check().run().await?.findings, desk.agents.check().run().await?.findings] {
        wrong.extend(findings.iter().map(|finding| format!("help desk: {finding:?}")));
    }
    compare("notifications", &notified(desk).await?, &closed(&all), wrong);
    compare("entries of the audit log", &logged(desk).await?, &closed(&all), wrong);
    sums(desk, &all, wrong).await?;
    blobs(desk, &all, wrong).await?;
    Ok(stored)
}

/// Reads the attachment of a ticket. Returns the value recorded for the ticket and its comments.
async fn whole(desk: &HelpDesk, ticket: &Ticket, wrong: &mut Vec<String>) -> Result<String> {
    let key = Ticket::key(&ticket.tenant, ticket.number);
    let group: TicketWithComments = desk.tickets.table().read_group(key).await?;
    let numbers: Vec<u32> = group.comments.iter().map(|comment| comment.number).collect();
    if !numbers.iter().copied().eq(1..=u32::try_from(numbers.len()).unwrap_or_default()) {
        wrong.push(format!("help desk: ticket {} has the comments {numbers:?}", ticket.number));
    }
    if let Some(read) = desk.attachments.open(ticket, Ticket::ATTACHMENT_BLOB).await?
        && read.bytes().await? != attached(ticket)
    {
        wrong.push(format!("help desk: the attachment of ticket {} holds another value", ticket.number));
    }
    Ok(ticket_entry(ticket, numbers.len()))
}

type Closings = BTreeMap<(String, u32), usize>;

fn counted(tickets: impl IntoIterator<Item = (String, u32)>) -> Closings {
    tickets.into_iter().fold(Closings::new(), |mut counts, ticket| {
        *counts.entry(ticket).or_default() += 1;
        counts
    })
}

/// Returns the closed tickets, with the number of occurrences of each.
fn closed(tickets: &[Ticket]) -> Closings {
    let closed = tickets.iter().filter(|ticket| ticket.status == Status::Closed);
    counted(closed.map(|ticket| (ticket.tenant.clone(), ticket.number)))
}

async fn notified(desk: &HelpDesk) -> Result<Closings> {
    let mails = desk.store.table::<Mail>().scan("check after a crash").max_rows(MOST).collect().await?;
    Ok(counted(mails.into_iter().map(|mail| (mail.tenant, mail.ticket))))
}

async fn logged(desk: &HelpDesk) -> Result<Closings> {
    let mut found = Vec::new();
    for (_, day) in desk.audit.tables().await? {
        let table = desk.audit.table_of(day)?;
        for tenant in TENANTS {
            found.extend(table.query(AuditEntry::partition(tenant)).collect().await?);
        }
    }
    Ok(counted(found.into_iter().map(|entry| (entry.tenant, entry.ticket))))
}

/// Compares the views with sums computed from the tickets.
async fn sums(desk: &HelpDesk, tickets: &[Ticket], wrong: &mut Vec<String>) -> Result<()> {
    let (mut of_tenants, mut of_hours) = (BTreeMap::new(), BTreeMap::new());
    for ticket in tickets {
        let (open, all) = of_tenants.entry(ticket.tenant.clone()).or_insert((0, 0));
        *open += i64::from(ticket.status == Status::Open);
        *all += 1;
        let hour = ticket.created.duration_trunc(Duration::hours(1)).unwrap_or(ticket.created);
        *of_hours.entry((ticket.tenant.clone(), hour)).or_insert(0) += 1;
    }
    let shown = desk.sums.table().await?.scan("check after a crash").max_rows(MOST).collect().await?;
    let shown = shown.into_iter().map(|TenantSums { tenant, open, tickets }| (tenant, (open, tickets)));
    compare("sums", &shown.filter(|(_, (_, all))| *all != 0).collect(), &of_tenants, wrong);
    let shown = desk.hours.table().await?.scan("check after a crash").max_rows(MOST).collect().await?;
    let shown = shown.into_iter().map(|HourSums { tenant, hour, tickets }| ((tenant, hour), tickets));
    compare("hours", &shown.filter(|(_, tickets)| *tickets != 0).collect(), &of_hours, wrong);
    Ok(())
}

/// Checks that each blob belongs to a ticket. The blobs of the tickets have already been read.
async fn blobs(desk: &HelpDesk, tickets: &[Ticket], wrong: &mut Vec<String>) -> Result<()> {
    let named: Vec<&str> = tickets
        .iter()
        .filter_map(|ticket| Ticket::ATTACHMENT_BLOB.address_in(ticket))
        .map(BlobRef::path)
        .collect();
    let unlisted = |error| Error::new(ErrorCode::Io, "the attachments cannot be listed").with_source(error);
    let mut listing = desk.blobs.list(None);
    while let Some(meta) = listing.try_next().await.map_err(unlisted)? {
        if !named.contains(&meta.location.as_ref()) {
            wrong.push(format!("help desk: no ticket names the blob {}", meta.location));
        }
    }
    Ok(())
}

fn compare<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T, wrong: &mut Vec<String>) {
    if found != expected {
        wrong.push(format!("help desk: the {what} are {found:?}, the tickets call for {expected:?}"));
    }
}

/// Returns comment `number` on a ticket.
pub(super) fn comment(ticket: &Ticket, number: usize) -> Comment {
    Comment {
        tenant: ticket.tenant.clone(),
        ticket: ticket.number,
        number: u32::try_from(number).unwrap_or_default(),
        text: "It still does.".to_owned(),
    }
}
