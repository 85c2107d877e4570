//! The help desk program. It loads, queries, changes and exports tickets, and prints the cost of each operation.

mod export;
mod load;
pub mod work;

use std::error::Error;
use std::time::Instant;

use chrono::{DateTime, Duration, Utc};
use table_advice::{Step, Workload};
use table_core::index::Index;
use table_core::queue::DynQueueStore;
use table_core::{Clock, ErrorCode, TableStoreExt, ticks};
use table_patterns::large::{LargeTable, whole};
use table_patterns::outbox::Outbox;
use table_patterns::participant::WithParticipants;
use table_patterns::periods::PeriodTables;
use table_patterns::view::ViewTable;
use table_patterns::work::Worker;
use table_patterns::{Entities, EntityStore};

#[cfg(feature = "azure")]
use crate::cleanup::run_and_delete;
use crate::grid::thousands;
use crate::model::helpdesk::{
    Agent, AuditEntry, Closed, Comment, DeskQuestions, HourSums, Mail, Notifies, Status, SumsOfTenants,
    TenantSums, Ticket, TicketLine, TicketWithComments, TicketsAnHour, next,
};
use crate::store::{self, Place, Store};

type Failed = Box<dyn Error>;
type Desk = Outbox<Store, DynQueueStore>;
type Tickets = Entities<Ticket, WithParticipants<Store>, Desk>;
type Agents = Entities<Agent, WithParticipants<Store>, Desk>;

/// The names of the tenants. All queries concern the first tenant.
const TENANTS: [&str; 8] =
    ["contoso", "adatum", "fabrikam", "litware", "northwind", "proseware", "tailspin", "wingtip"];
/// The number of agents of each tenant.
const AGENTS: u32 = 20;
const CONTOSO: &str = TENANTS[0];
/// The maximum number of tickets to load. A tenant's ticket numbers have six digits.
pub const MOST_TICKETS: u32 = 7_900_000;
const _: () = assert!(MOST_TICKETS as usize / TENANTS.len() + 1_000 < 1_000_000, "six digits");

/// Runs the complete program with `tickets` tickets.
///
/// # Errors
/// An error if the folder is not empty, or any error from the store.
///
/// # Panics
/// Panics if a result differs from the loaded data.
pub async fn run(place: &Place, tickets: u32) -> Result<(), Failed> {
    match place {
        Place::Account(connection_string) => in_account(connection_string, tickets).await,
        Place::Memory => on(&store::in_memory(), tickets).await,
        Place::Folder(folder) => {
            store::require_empty(folder)?;
            on(&store::open(folder)?, tickets).await
        }
        Place::Temporary => {
            let folder = tempfile::Builder::new().prefix("helpdesk-").tempdir()?;
            on(&store::open(folder.path())?, tickets).await
        }
    }
}

#[cfg(feature = "azure")]
async fn in_account(connection_string: &str, tickets: u32) -> Result<(), Failed> {
    let store = store::azure(connection_string).await?;
    run_and_delete(&store, Box::pin(on(&store, tickets))).await
}

#[cfg(not(feature = "azure"))]
#[expect(clippy::unused_async, reason = "the signature of the feature `azure`")]
async fn in_account(_: &str, _: u32) -> Result<(), Failed> {
    Err("this build has no client for accounts: add `--features azure` to the command, before `--`".into())
}

/// Prints the cost of an operation. It includes all calls to the store since the previous operation.
fn cost(store: &Store, what: &str) {
    let reading = store.meter().take();
    println!("  {what:<58} {}", *reading);
}

async fn on(store: &Store, count: u32) -> Result<(), Failed> {
    println!("Store: {store}\n");
    let outbox = Outbox::new(store.clone(), store.queues().clone(), store.queue("helpdesk")?);
    outbox.create_queues().await?;
    let desk = store.clone().with_participant::<Ticket>(Notifies);
    let tickets = desk.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing().await?;
    let agents = desk.entities_with_outbox::<Agent, _>(outbox.clone()).create_if_missing().await?;
    store.table::<Mail>().create_if_missing().await?;
    let from = ticks::now() - Duration::days(60);
    load::load(&agents, &tickets, count, from).await?;
    let sums = ViewTable::<SumsOfTenants, _>::new(store.clone()).create_if_missing().await?;
    let hours = ViewTable::<TicketsAnHour, _>::new(store.clone()).create_if_missing().await?;
    let began = Instant::now();
    sums.rebuild().run().await?;
    hours.rebuild().run().await?;
    rate("two views built", 2 * count, began);

    store.meter().take();
    println!("\nQueries of {CONTOSO}");
    questions(store, &tickets, &agents, from).await?;
    let of_tenant = sums.table().await?.get(TenantSums::key(CONTOSO)).await?.ok_or("no sums")?;
    cost(store, "open tickets, and all, of the tenant");
    println!("    {} of {} are open", of_tenant.open, of_tenant.tickets);
    let noon = from..from + Duration::days(2);
    let by_hour =
        hours.table().await?.query(HourSums::rows(CONTOSO).hour(whole_hours(&noon))).collect().await?;
    cost(store, "tickets per hour, of two days");
    assert!(by_hour.iter().all(|hour| hour.tickets > 0));

    println!("\nChanges");
    let audit = PeriodTables::<AuditEntry, _>::new(store.clone()).retain(90).precreate(1);
    audit.prepare().await?;
    store.meter().take();
    let worker = || {
        let work = work::Notifier { store: store.clone(), audit: audit.clone() };
        Worker::new(outbox.clone())
            .handler::<Closed>(work)
            .with_index_handler(&agents)
            .with_index_handler(&tickets)
    };
    changes(store, &tickets, &agents, worker).await?;
    while sums.catch_up(10_000).await?.is_behind {}
    cost(store, "the sums catch up");
    let now = sums.table().await?.get(TenantSums::key(CONTOSO)).await?.ok_or("no sums")?;
    assert_eq!((now.open, now.tickets), (of_tenant.open, of_tenant.tickets + 1), "one more, and one closed");
    let logged = audit
        .query(AuditEntry::partition(CONTOSO), ticks::now() - Duration::days(1), ticks::now())?
        .collect()
        .await?;
    assert_eq!(logged.len(), 1, "closed once");
    drop_old_entries(store, &audit).await?;

    let began = Instant::now();
    // The file is deleted when `file` goes out of scope, even after an error.
    let file = tempfile::Builder::new().prefix("helpdesk-").suffix(".jsonl").tempfile()?;
    let exported = export::tenant(store, CONTOSO, file.path()).await?;
    cost(store, "the tenant exported");
    rate("entities exported", exported.entities, began);
    println!("    {} bytes", thousands(std::fs::metadata(file.path())?.len()));
    assert_eq!(i64::from(exported.tickets), now.tickets);
    next_version(store, &outbox).await?;
    heat()
}

/// Shows that today's audit log is kept for 90 days and is then dropped together with its table.
async fn drop_old_entries(store: &Store, audit: &PeriodTables<AuditEntry, Store>) -> Result<(), Failed> {
    for days in [90, 91] {
        store.meter().take();
        let later = ticks::now() + Duration::days(days);
        let dropped = audit.clone().with_clock(Clock::of_instants(move || later)).expire().await?;
        cost(store, &format!("the audit log {days} days later: {} tables dropped", dropped.len()));
        assert_eq!(!dropped.is_empty(), days == 91, "kept for 90 days");
    }
    store.meter().take();
    Ok(())
}

fn rate(what: &str, count: u32, began: Instant) {
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "  {what:<24} {:>9} in {seconds:.2} s, {:.0} a second",
        thousands(count.into()),
        f64::from(count) / seconds
    );
}

/// Returns a time range whose start and end are truncated to the hour.
fn whole_hours(time: &std::ops::Range<DateTime<Utc>>) -> std::ops::Range<DateTime<Utc>> {
    use chrono::DurationRound;
    let hour = |at: DateTime<Utc>| at.duration_trunc(Duration::hours(1)).unwrap_or(at);
    hour(time.start)..hour(time.end)
}

async fn questions(
    store: &Store,
    tickets: &Tickets,
    agents: &Agents,
    from: DateTime<Utc>,
) -> Result<(), Failed> {
    let one = tickets.get(DeskQuestions::ticket(CONTOSO, 17)).await?.ok_or("ticket 17 was loaded")?;
    cost(store, "ticket 17");
    assert_eq!(one.created, load::created(from, 17));
    let both: TicketWithComments = tickets.table().read_group(DeskQuestions::ticket(CONTOSO, 15)).await?;
    cost(store, "a ticket and its comments, in one read");
    assert_eq!((both.ticket.number, both.comments.len()), (15, 2));
    let newest =
        tickets.query(DeskQuestions::open(CONTOSO)).project::<TicketLine>().limit(20).collect().await?;
    cost(store, "the newest 20 open tickets");
    assert!(newest.len() == 20 && newest.is_sorted_by(|one, next| one.number > next.number));
    let mine = tickets
        .query(DeskQuestions::of_agent(CONTOSO, 7, Status::Open))
        .project::<TicketLine>()
        .limit(20)
        .collect();
    let mine = mine.await?;
    cost(store, "the newest 20 open tickets of an agent");
    assert!(
        mine.iter().all(|line| line.number % AGENTS == 7 && line.agent_name.as_deref() == Some("Agent 7"))
    );
    let days = tickets
        .query(DeskQuestions::opened(CONTOSO, from, from + Duration::days(30)))
        .project::<TicketLine>();
    let days = days.collect().await?;
    cost(store, "all tickets of 30 days");
    assert!(!days.is_empty());
    let found =
        agents.get(Agent::by_email(CONTOSO, "agent7@contoso.example")).await?.ok_or("agent 7 was loaded")?;
    cost(store, "an agent by e-mail");
    let double = Agent { id: 9_999, ..found.value().clone() };
    let refused = agents.insert(&double).await.err().ok_or("the address is taken")?;
    cost(store, "a second agent with the address, refused");
    assert_eq!(refused.code(), ErrorCode::UniqueViolation);
    Ok(())
}

async fn changes(
    store: &Store,
    tickets: &Tickets,
    agents: &Agents,
    worker: impl Fn() -> Worker<Store, DynQueueStore>,
) -> Result<(), Failed> {
    // One transaction writes 200 KB of text, a gapless number and a comment. The attachment of 5 MB is written afterwards.
    let numbers = load::numbers(tickets)?;
    let text = "It beeps. ".repeat(20_000);
    let number = numbers
        .next(Ticket::partition(CONTOSO), |number, unit| {
            unit.require(Agent::key(CONTOSO, 7))?;
            let ticket = load::ticket(CONTOSO, number, ticks::now(), &text);
            unit.insert(&Ticket { status: Status::Open, agent: Some(7), ..ticket })?;
            let said = Comment {
                tenant: CONTOSO.into(),
                ticket: number,
                number: 1,
                text: "Since this morning.".into(),
            };
            unit.insert(&said).map(drop)
        })
        .await?;
    cost(store, "a ticket with 200 KB and a comment, with its number");
    let key = || Ticket::key(CONTOSO, number);
    let large = LargeTable::new(tickets.clone(), store.blobs(), "attachments");
    large.set(key(), [Ticket::ATTACHMENT_BLOB.content(whole(vec![7; 5_000_000]))]).await?;
    cost(store, "an attachment of 5 MB");
    let read = large.entities().get(key()).await?.ok_or("just inserted")?;
    let attached = large.open(&read, Ticket::ATTACHMENT_BLOB).await?.ok_or("just attached")?;
    assert_eq!((read.text.len(), attached.len()), (200_000, 5_000_000));

    // The new name of the agent is copied to all of the agent's tickets.
    store.meter().take();
    agents.update(Agent::key(CONTOSO, 7), |agent| agent.name = "Ada Lovelace".into()).await?;
    cost(store, "an agent renamed");
    let began = Instant::now();
    worker().run_until_idle().await?;
    cost(store, "the new name on all their tickets, by a worker");
    let mut shown = 0;
    for status in [Status::Open, Status::Closed] {
        let lines = tickets
            .query(DeskQuestions::of_agent(CONTOSO, 7, status))
            .project::<TicketLine>()
            .collect()
            .await?;
        assert!(lines.iter().all(|line| line.agent_name.as_deref() == Some("Ada Lovelace")));
        shown += u32::try_from(lines.len())?;
    }
    rate("shown on tickets", shown, began);

    // Even if the work runs twice, the ticket is closed once and the customer is notified once.
    store.meter().take();
    let open = tickets.query(DeskQuestions::open(CONTOSO)).project::<TicketLine>().limit(2).collect().await?;
    let oldest = open.last().ok_or("two are open")?.number;
    store.meter().take();
    tickets.update(Ticket::key(CONTOSO, oldest), |ticket| ticket.status = Status::Closed).await?;
    cost(store, "a ticket closed");
    worker().run_until_idle().await?;
    cost(store, "its customer notified, by a worker");
    let mails = store.table::<Mail>().query(Mail::rows(CONTOSO)).collect().await?;
    assert_eq!(mails, [Mail { tenant: CONTOSO.into(), ticket: oldest }]);
    // The next printed cost does not include the requests for this check.
    store.meter().take();
    Ok(())
}

/// Shows a newer version of the program, which runs after the older version has been stopped. It adds a field and an index to existing rows.
async fn next_version(store: &Store, outbox: &Desk) -> Result<(), Failed> {
    println!("\nThe next version of the program");
    let new = store.entities_with_outbox::<next::Ticket, _>(outbox.clone());
    let new = new.create_if_missing().await?;
    new.update(next::Ticket::key(CONTOSO, 17), |ticket| ticket.product = Some("door".into())).await?;
    let began = Instant::now();
    let built = new.backfill::<next::TicketByPriority>().assume_no_older_programs().run().await?;
    rate("indexed", u32::try_from(built.scanned)?, began);
    store.meter().take();
    let urgent = new
        .query(next::Ticket::by_priority(CONTOSO, 1))
        .project::<next::UrgentLine>()
        .limit(20)
        .collect()
        .await?;
    cost(store, "20 of priority 1, by the new index");
    assert!(!urgent.is_empty() && next::TicketByPriority::SCHEMA.name == "ByPriority");
    // From now on, the older version must not run. It would not update the index.
    match store.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing().await {
        Ok(_) => return Err("the older program starts".into()),
        Err(error) => println!("  the older program is refused: {error}"),
    }
    let report = new.check().run().await?;
    println!("  index rows that disagree with their tickets afterwards: {}", report.found);
    assert_eq!(report.found, 0);
    Ok(())
}

/// Prints how the opening of tickets loads the partitions. Each tenant has one partition.
fn heat() -> Result<(), Failed> {
    let start = DateTime::from_timestamp(1_767_225_600, 0).unwrap_or_default();
    let next = move |draw: &mut table_advice::Draw<'_>| {
        let number = u32::try_from(draw.number()).unwrap_or_default();
        let tenant = TENANTS.get(number as usize % TENANTS.len()).copied().unwrap_or(CONTOSO);
        Step::write(&load::ticket(tenant, number % 900_000, draw.instant(), "It beeps."))
    };
    let report =
        Workload::new("open tickets").seconds(10).start(start).pattern("open a ticket", 400.0, next).run()?;
    println!("\nHeat\n{}", report.heat_map());
    report.require_no_throttling()?;
    Ok(())
}
