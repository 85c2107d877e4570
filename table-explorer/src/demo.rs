//! In-memory sample tables: a help desk with indexes, a change feed and pending work; a company with editable rows; and sensor readings without a schema.

use chrono::{DateTime, Duration, Utc};
use serde::{Deserialize, Serialize};
use table_core::{
    DynTableStore, Engine, Entity, EntitySet, Error, ErrorCode, KeyPart, PartitionKey, QueueName, Result,
    RowKey, TableEntity, TableName, TableStore, TableStoreExt, Transaction, ticks,
};
use table_patterns::EntityStore;
use table_patterns::outbox::{Intent, Message, Outbox, Step};
use table_patterns::work::{Backoff, Delivery, Handler, Worker, WorkerOptions};

use crate::state::Source;

/// The name of the sample outbox's queue.
const QUEUE: &str = "helpdesk";
/// The number of tickets per tenant.
const TICKETS: u32 = 60;

#[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
enum Status {
    Open,
    Closed,
}

#[derive(Entity, Clone, Debug)]
#[entity(table = "HelpDesk", set = HelpDesk, feed)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByStatus, row_key("status_", status, "_", desc(number)), include(subject, agent))]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
    subject: String,
    status: Status,
    weight: i32,
    agent: Option<String>,
    opened: DateTime<Utc>,
    #[property(chunks)]
    text: String,
}

#[derive(Entity, Clone, Debug)]
#[entity(table = "HelpDesk", set = HelpDesk)]
#[partition_key(tenant)]
#[row_key("ticket_", ticket, "_", number)]
struct Comment {
    tenant: String,
    #[digits(6)]
    ticket: u32,
    #[digits(4)]
    number: u32,
    author: String,
    text: String,
}

#[derive(Entity, Clone, Debug)]
#[entity(table = "HelpDesk", set = HelpDesk)]
#[partition_key(tenant)]
#[row_key("staff_", id)]
#[index(ByEmail, unique, row_key("email_", escaped(email)))]
struct Agent {
    tenant: String,
    #[digits(4)]
    id: u32,
    name: String,
    email: String,
}

#[derive(EntitySet, Debug)]
enum HelpDesk {
    Ticket(Ticket),
    Comment(Comment),
    Agent(Agent),
    #[other]
    Other(TableEntity),
}

#[derive(Entity, Clone, Debug)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    name: String,
    age: i32,
    email: String,
    salary: i64,
    badge: Option<Vec<u8>>,
}

#[derive(Serialize, Deserialize)]
struct Closed {
    ticket: u32,
}

impl Message for Closed {
    const NAME: &'static str = "ticket closed";
    const VERSION: u32 = 1;
}

/// A mail handler that always fails, so the sample contains failed work.
struct Unreachable;

impl Handler<Closed> for Unreachable {
    async fn handle(&self, closed: &Closed, _: Delivery<'_>) -> Result<()> {
        let text =
            format!("the mail server refused the message about ticket {}: mailbox full", closed.ticket);
        Err(Error::new(ErrorCode::InvalidInput, text))
    }
}

/// Creates the sample store.
///
/// # Errors
/// Any error from the in-memory engine; none occurs in practice.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let source = table_explorer::demo::source().await.unwrap();
/// let explorer = table_explorer::Explorer::new(source);
/// assert!(explorer.first_path().starts_with("/?token="));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub async fn source() -> Result<Source> {
    let engine = Engine::in_memory();
    fill(&engine).await?;
    Ok(Source::new(DynTableStore::new(engine.clone()), "demo").with_engine(engine))
}

/// Creates the sample tables in an engine.
///
/// # Errors
/// Any error from the engine.
pub async fn fill(engine: &Engine) -> Result<()> {
    let start = ticks::now() - Duration::days(30);
    help_desk(engine, start).await?;
    company(engine).await?;
    readings(engine, start).await?;
    work(engine).await
}

async fn help_desk(engine: &Engine, start: DateTime<Utc>) -> Result<()> {
    const SUBJECTS: [&str; 6] = [
        "Printer answers in Latin",
        "Export stops at row 65,536",
        "Signature refused behind proxy",
        "Two invoices, one number",
        "Calendar shows the 31st of June",
        "Door opens only on Tuesdays",
    ];
    const AGENTS: [&str; 3] = ["Ada Lovelace", "Grace Hopper", "Barbara Liskov"];
    let tickets = engine.entities::<Ticket>().create_if_missing().await?;
    let comments = engine.entities::<Comment>().create_if_missing().await?;
    let agents = engine.entities::<Agent>().create_if_missing().await?;
    for (nth, tenant) in (0_u32..).zip(["contoso", "fabrikam", "northwind"]) {
        for (id, name) in (1..).zip(AGENTS) {
            let first = name.split(' ').next().unwrap_or_default().to_lowercase();
            let email = format!("{first}@{tenant}.example");
            agents.insert(&Agent { tenant: tenant.into(), id, name: name.into(), email }).await?;
        }
        for number in 1..=TICKETS {
            let mix = number * 7 + nth * 3;
            let pick =
                |from: &[&str]| from.get(mix as usize % from.len()).copied().unwrap_or_default().to_owned();
            let text = if number % 20 == 4 {
                "It beeps. ".repeat(7_000)
            } else {
                "It began after the update of Monday.".to_owned()
            };
            let ticket = Ticket {
                tenant: tenant.into(),
                number,
                subject: pick(&SUBJECTS),
                status: if mix % 3 == 0 { Status::Open } else { Status::Closed },
                weight: i32::try_from(mix % 13).unwrap_or_default() + 1,
                agent: (mix % 4 > 0).then(|| pick(&AGENTS)),
                opened: start + Duration::minutes(i64::from(number) * 617 + i64::from(nth) * 11),
                text,
            };
            tickets.insert(&ticket).await?;
            for comment in 1..=(number % 5) / 3 * 2 {
                let text = if comment == 1 { "Is it plugged in?" } else { "Asked for a photograph." };
                let author = pick(&AGENTS);
                comments
                    .insert(&Comment {
                        tenant: tenant.into(),
                        ticket: number,
                        number: comment,
                        author,
                        text: text.into(),
                    })
                    .await?;
            }
        }
    }
    Ok(())
}

async fn company(engine: &Engine) -> Result<()> {
    const NAMES: [&str; 8] = ["Jones", "Smith", "Hansen", "Okafor", "Ito", "Novak", "Silva", "Kaya"];
    let employees = engine.entities::<Employee>().create_if_missing().await?;
    for (nth, department) in (0_u32..).zip(["Finance", "Marketing", "Research", "Sales"]) {
        for id in 1..=40 {
            let mix = id * 5 + nth;
            let name = NAMES.get(mix as usize % NAMES.len()).copied().unwrap_or_default();
            let employee = Employee {
                department: department.into(),
                id: nth * 100 + id,
                name: name.into(),
                age: i32::try_from(22 + mix % 41).unwrap_or_default(),
                email: format!("{}{id}@contoso.example", name.to_lowercase()),
                salary: i64::from(38_000 + mix * 731 % 60_000),
                badge: (id % 4 == 1).then(|| BADGE.to_vec()),
            };
            employees.insert(&employee).await?;
        }
    }
    Ok(())
}

/// Inserts rows without storing a schema.
async fn readings(engine: &Engine, start: DateTime<Utc>) -> Result<()> {
    let table = engine.untyped("SensorReadings")?.create_if_missing().await?;
    for sensor in 1..=4 {
        for nth in 0..30_i64 {
            let at = start + Duration::minutes(nth * 15);
            let count = ticks::from_datetime(at).unwrap_or_default();
            let celsius =
                18.0 + f64::from(sensor) + f64::from(i32::try_from(nth % 7).unwrap_or_default()) / 4.0;
            let row = TableEntity::new(format!("sensor-{sensor:03}"), format!("{count:019}"))?;
            table.insert(&row.with("Celsius", celsius).with("At", at)).await?;
        }
    }
    Ok(())
}

/// Creates pending work and failed work.
async fn work(engine: &Engine) -> Result<()> {
    let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new(QUEUE)?);
    outbox.create_queues().await?;
    let at_once = Backoff { initial: std::time::Duration::ZERO, max: std::time::Duration::ZERO };
    let options =
        WorkerOptions { poison_after: 1, step_attempts: 1, redelivery: at_once, ..WorkerOptions::default() };
    record(&outbox, "fabrikam", 12).await?;
    let worker = Worker::with_options(outbox.clone(), options).handler::<Closed>(Unreachable);
    worker.run_until_idle().await?;
    for ticket in [15, 21] {
        record(&outbox, "contoso", ticket).await?;
    }
    Ok(())
}

async fn record(outbox: &Outbox<Engine, Engine>, tenant: &str, ticket: u32) -> Result<()> {
    let intent =
        Intent::of(RowKey::new(format!("ticket_{ticket:06}"))?).step(Step::call(&Closed { ticket })?);
    let mut transaction = Transaction::new(PartitionKey::new(tenant)?, outbox.store().capabilities().limits)?;
    outbox.record(&mut transaction, &intent)?;
    outbox.submit(&TableName::new("HelpDesk")?, transaction).await?;
    Ok(())
}

/// A sample image of 16 by 16 pixels.
const BADGE: &[u8] = include_bytes!("../assets/badge.png");
