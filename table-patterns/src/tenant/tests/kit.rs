//! A fixture for the tenant tests. It is a help desk that uses every pattern: indexes in the same and in other partitions, shared lists, copies, a feed, a
//! sequence, blobs, an outbox, and one audit table per year.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use pollster::block_on;
use proptest::prelude::*;
use table_core::clock::Clock;
use table_core::embedded::{Engine, EngineOptions};
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::query::{KeyRange, Query};
use table_core::queue::QueueName;
use table_core::row::Property;
use table_core::runtime::{Runtime, ticks_of};
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::{Entity, EntitySet, Result, TableEntity, TableName, TableStoreExt, ValueRef, ticks};

use crate::EntityStore;
use crate::blob::BlobRef;
use crate::converge;
use crate::copies::{CopyRelation, OnDelete};
use crate::entities::Entities;
use crate::entity_store::handle;
use crate::index::FindingKind;
use crate::large::{Large, LargeTable, whole};
use crate::outbox::Outbox;
use crate::outbox::guard::GUARD_PREFIX;
use crate::periods::{Period, PeriodTables, Periodic};
use crate::sequence::GaplessSequence;
use crate::tenant::Tenant;
use crate::tests::faults::{FaultyBlobs, FaultyStore};
use crate::work::{Sweep, SweepReport, Worker};

#[expect(clippy::duplicated_attributes, reason = "its indexes share attributes")]
#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed, copies_from(Assignee), set = Desk)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByTitle, row_key("title_", title, "_", number))]
#[index_entity(ByTag, at_most = 1000, row_key("tag_", topic))]
#[index(Codes, unique, table = "Codes", row_key(number))]
#[index(Directory, table = "Directory", partition_key(topic), row_key(tenant, "_", number), include(title))]
#[index_entity(Topics, at_most = 1000, table = "Topics", partition_key(topic), row_key("all"))]
pub(super) struct Ticket {
    #[without('_')]
    pub(super) tenant: String,
    #[digits(6)]
    pub(super) number: u32,
    #[without('_')]
    pub(super) title: String,
    pub(super) topic: String,
    pub(super) agent: Option<u32>,
    pub(super) agent_name: Option<String>,
    pub(super) rating: f64,
    #[blob]
    pub(super) file: Option<BlobRef>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copied_by(Assignee), set = Desk)]
#[partition_key(tenant)]
#[row_key("agent_", id)]
pub(super) struct Agent {
    pub(super) tenant: String,
    #[digits(4)]
    pub(super) id: u32,
    pub(super) name: String,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
pub(super) enum Desk {
    Ticket(Ticket),
    Agent(Agent),
    #[other]
    Other(TableEntity),
}

pub(super) struct Assignee;

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

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "DeskAudit")]
#[partition_key(tenant)]
#[row_key(at, "_", number)]
pub(super) struct Audit {
    pub(super) tenant: String,
    pub(super) at: DateTime<Utc>,
    #[digits(6)]
    pub(super) number: u32,
}

impl Periodic for Audit {
    const PERIOD: Period = Period::Year;
    fn instant(&self) -> DateTime<Utc> {
        self.at
    }
}

pub(super) type Store = FaultyStore<Engine>;
pub(super) type Out = Outbox<Store, Engine>;

/// A store with handles to the help desk's entity types.
pub(super) struct World {
    pub(super) store: Store,
    pub(super) outbox: Out,
    pub(super) tickets: Entities<Ticket, Store, Out>,
    pub(super) agents: Entities<Agent, Store, Out>,
    pub(super) blobs: FaultyBlobs,
    pub(super) large: LargeTable<Ticket, Store, Out>,
    /// A handle to the same table in a program that spells the table's name differently.
    large_of_other: LargeTable<Ticket, Store, Out>,
    pub(super) audit: PeriodTables<Audit, Store>,
    /// The offset, in ticks, of the clock of the store and the programs from the system clock.
    ahead: Arc<AtomicU64>,
}

/// An action on one tenant's data.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Insert { title: u8, topic: u8, agent: Option<u32>, file: Option<u32> },
    Retitle { number: u32, title: u8, topic: u8 },
    Delete { number: u32 },
    Rename { agent: u32, name: u8 },
    Work,
}

pub(super) fn steps(most: usize) -> impl Strategy<Value = Vec<(bool, Step)>> {
    let file = prop::option::weighted(0.3, 0_u32..100);
    let insert = (0_u8..3, 0_u8..3, prop::option::of(1_u32..3), file);
    let step = prop_oneof![
        4 => insert.prop_map(|(title, topic, agent, file)| Step::Insert { title, topic, agent, file }),
        2 => (1_u32..6, 0_u8..3, 0_u8..3).prop_map(|(number, title, topic)| Step::Retitle { number, title, topic }),
        1 => (1_u32..6).prop_map(|number| Step::Delete { number }),
        1 => (1_u32..3, 0_u8..5).prop_map(|(agent, name)| Step::Rename { agent, name }),
        1 => Just(Step::Work),
    ];
    prop::collection::vec((any::<bool>(), step), 1..most)
}

/// Returns a fixed list of actions that create rows of every kind. The steps recorded by the last actions have not been performed by a worker. The first file
/// has `bytes` bytes.
pub(super) fn steps_with_file(bytes: u32) -> Vec<(bool, Step)> {
    let insert = |title, topic, agent, file| Step::Insert { title, topic, agent, file };
    vec![
        (true, insert(0, 0, Some(1), Some(bytes))),
        (false, insert(0, 0, Some(1), Some(10))),
        (true, insert(1, 1, None, None)),
        (true, insert(2, 0, Some(2), Some(0))),
        (true, Step::Work),
        (true, Step::Retitle { number: 2, title: 2, topic: 2 }),
        (true, Step::Delete { number: 3 }),
        (true, insert(1, 2, Some(1), None)),
        (true, Step::Rename { agent: 1, name: 4 }),
    ]
}

pub(super) fn some_steps() -> Vec<(bool, Step)> {
    steps_with_file(100)
}

pub(super) fn name(is_contoso: bool) -> &'static str {
    if is_contoso { "contoso" } else { "adatum" }
}

impl World {
    pub(super) fn new() -> Self {
        let ahead = Arc::<AtomicU64>::default();
        let hand = Arc::clone(&ahead);
        let clock = Clock::new(move || Clock::default().now() + hand.load(Ordering::SeqCst));
        let engine = || EngineOptions::new().clock(clock.clone()).in_memory();
        let (store, runtime) = (FaultyStore::new(engine()), Runtime::new().clock(clock.clone()));
        let queue = QueueName::new("desk").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), engine(), queue, runtime);
        block_on(async {
            outbox.create_queues().await?;
            let tickets = store.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing().await?;
            let agents = store.entities_with_outbox::<Agent, _>(outbox.clone()).create_if_missing().await?;
            let blobs = FaultyBlobs::default();
            let large = LargeTable::new(tickets.clone(), Arc::new(blobs.clone()), "files");
            let other =
                handle(store.table_named::<Ticket>("desk")?, outbox.clone()).create_if_missing().await?;
            let large_of_other = LargeTable::new(other, Arc::new(blobs.clone()), "files");
            let audit = PeriodTables::new(store.clone());
            Ok::<_, table_core::Error>(Self {
                store,
                outbox,
                tickets,
                agents,
                blobs,
                large,
                large_of_other,
                audit,
                ahead,
            })
        })
        .unwrap()
    }

    /// Moves the clock of the store and the programs forward.
    pub(super) fn pass(&self, time: Duration) {
        self.ahead.fetch_add(ticks_of(time), Ordering::SeqCst);
    }

    /// Runs a sweep, which sends messages for recorded steps whose messages were lost.
    pub(super) fn sweep(&self) -> SweepReport {
        let sweep = Sweep::new(self.outbox.clone()).min_age(Duration::ZERO);
        block_on(sweep.sweep_registered()).unwrap()
    }

    /// Returns a store after two tenants have performed `steps`; `true` stands for `contoso`, `false` for `adatum`.
    pub(super) fn after(steps: &[(bool, Step)]) -> Self {
        let world = Self::new();
        for is_contoso in [true, false] {
            for id in 1..3 {
                let agent = Agent { tenant: name(is_contoso).into(), id, name: format!("Agent {id}") };
                block_on(world.agents.insert(&agent)).unwrap();
            }
        }
        for (is_contoso, step) in steps {
            block_on(world.act(name(*is_contoso), step)).unwrap();
        }
        world
    }

    pub(super) async fn act(&self, tenant: &str, step: &Step) -> Result<()> {
        let text = |title: u8| format!("Title {title} of {tenant}");
        let missing = |outcome: Result<()>| match outcome {
            Err(error) if error.is_not_found() => Ok(()),
            outcome => outcome,
        };
        match step {
            Step::Insert { title, topic, agent, file } => {
                let numbers = GaplessSequence::new(&self.tickets, "ticket")?;
                let number = numbers.next(Ticket::partition(tenant), |number, unit| {
                    let ticket = Ticket {
                        tenant: tenant.into(),
                        number,
                        title: text(*title),
                        topic: format!("topic{topic}"),
                        agent: *agent,
                        agent_name: None,
                        rating: f64::from(number) / 3.0,
                        file: None,
                    };
                    unit.insert(&ticket).map(drop)
                });
                let number = number.await?;
                self.audit.insert(&Audit { tenant: tenant.into(), at: ticks::now(), number }).await?;
                if let Some(bytes) = file {
                    let content = vec![7; usize::try_from(*bytes).unwrap()];
                    let large = if number % 2 == 0 { &self.large_of_other } else { &self.large };
                    large
                        .set(Ticket::key(tenant, number), [Ticket::FILE_BLOB.content(whole(content))])
                        .await?;
                }
                Ok(())
            }
            Step::Retitle { number, title, topic } => {
                let update = self.tickets.update(Ticket::key(tenant, *number), |ticket| {
                    (ticket.title, ticket.topic) = (text(*title), format!("topic{topic}"));
                });
                missing(update.await.map(drop))
            }
            Step::Delete { number } => {
                missing(self.tickets.delete(Ticket::key(tenant, *number), IfMatch::Any).await.map(drop))
            }
            Step::Rename { agent, name } => {
                let rename = self.agents.update(Agent::key(tenant, *agent), |agent| {
                    agent.name = format!("Name {name} at {tenant}");
                });
                missing(rename.await.map(drop))
            }
            Step::Work => self.work().await,
        }
    }

    /// Deletes a row if it exists. Does not delete the rows derived from it.
    pub(super) fn delete_row(&self, table: &str, partition_key: &str, row_key: &str) {
        let (engine, table) = (self.store.inner(), TableName::new(table).unwrap());
        let key = EntityKey::new(partition_key, row_key).unwrap();
        let delete = [(key.row_key, OperationKind::Delete(IfMatch::Any))];
        match block_on(converge::submit(engine, &table, &key.partition_key, delete)) {
            Err(error) if error.is_not_found() => {}
            outcome => drop(outcome.unwrap()),
        }
    }

    /// Performs all recorded steps, as a worker does.
    pub(super) async fn work(&self) -> Result<()> {
        let worker = Worker::new(self.outbox.clone());
        worker
            .with_index_handler(&self.tickets)
            .with_index_handler(&self.agents)
            .run_until_idle()
            .await
            .map(drop)
    }

    /// Returns a tenant for which all entity types of the help desk are registered.
    pub(super) fn tenant(&self, name: &str) -> Tenant {
        let tenant = Tenant::new().with_entities(&self.tickets, Ticket::partition(name)).unwrap();
        let tenant = tenant.with_entities(&self.agents, Agent::partition(name)).unwrap();
        let tenant = tenant.with_periods(&self.audit, Audit::partition(name)).unwrap();
        tenant.with_blobs(&self.large).unwrap()
    }

    /// Returns a tenant's tickets, each with the length of its file.
    pub(super) fn tickets_of(&self, tenant: &str) -> Vec<(Ticket, Option<usize>)> {
        let found = block_on(self.tickets.query(Ticket::rows(tenant)).collect()).unwrap();
        let with_file = |ticket: Ticket| {
            let key = Ticket::key(tenant, ticket.number);
            let stored = block_on(self.tickets.get(key)).unwrap().unwrap();
            let file = block_on(self.large.open(&stored, Ticket::FILE_BLOB)).unwrap();
            (ticket, file.map(|file| block_on(file.bytes()).unwrap().len()))
        };
        found.into_iter().map(with_file).collect()
    }

    /// Returns the keys and properties of all rows in all tables, except stored schemas. Omits guards, because the guard of a removed row remains until
    /// it is collected.
    pub(super) fn dump(&self) -> BTreeMap<(String, String, String), String> {
        let engine = self.store.inner();
        let mut rows = BTreeMap::new();
        let tables = block_on(engine.list_tables("", None, 1000)).unwrap().names;
        let hidden = [crate::feed::FEEDS, crate::outbox::REGISTRY].map(|name| TableName::new(name).unwrap());
        for table in tables.into_iter().chain(hidden) {
            if table.as_str() == table_core::table::LAYOUTS {
                continue;
            }
            let page = match block_on(engine.query(&table, &Query::new(KeyRange::ALL), None)) {
                Err(error) if error.is_table_not_found() => continue,
                page => page.unwrap(),
            };
            assert!(page.continuation.is_none());
            for row in page.rows.iter().filter(|row| !row.row_key.starts_with(GUARD_PREFIX)) {
                // JSON properties have no order.
                let mut properties: Vec<String> = row
                    .row
                    .properties()
                    .map(|property| match property.unwrap() {
                        Property { name, value: ValueRef::Binary(bytes) } => {
                            format!("{name}={}", String::from_utf8_lossy(bytes))
                        }
                        Property { name, value } => format!("{name}={value:?}"),
                    })
                    .collect();
                properties.sort();
                let text = properties.join(";");
                let key = (table.as_str().to_owned(), row.partition_key.to_owned(), row.row_key.to_owned());
                rows.insert(key, text);
            }
        }
        rows
    }

    /// Checks all ticket indexes. Returns the number of findings other than malformed reserved rows.
    pub(super) fn findings(&self) -> usize {
        let report = block_on(self.tickets.check().run()).unwrap();
        report.findings.iter().filter(|finding| finding.kind != FindingKind::OddRow).count()
    }

    /// Returns the number of a tenant's tickets in the topic's list, which is shared by all tenants.
    pub(super) fn in_topic(&self, tenant: &str, topic: u8) -> usize {
        let found =
            block_on(self.tickets.get_by_index_eventual(Ticket::topics(format!("topic{topic}")))).unwrap();
        found.iter().filter(|ticket| ticket.tenant == tenant).count()
    }
}

/// Returns the complete export of a tenant as a string.
pub(super) fn export(tenant: &Tenant) -> String {
    let (mut export, mut text) = (tenant.export(), String::new());
    while let Some(lines) = block_on(export.step()).unwrap() {
        text += &lines;
    }
    text
}

/// Imports a complete export, one line at a time.
pub(super) fn import(tenant: &Tenant, text: &str) -> Result<crate::tenant::Imported> {
    let mut import = tenant.import();
    block_on(async {
        for line in text.lines() {
            import.push(line).await?;
        }
        import.finish().await
    })
}
