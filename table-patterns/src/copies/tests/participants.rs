//! Tests participants' rows in transactions that write both sources (copied entities) and the holders of their copies.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::queue::QueueName;
use table_core::{Entity, Result, TableStoreExt};

use crate::EntityStore;
use crate::copies::tests::desk::{Agent, Ticket, agent, ticket};
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::participant::{Changes, Participant, WithParticipants};
use crate::work::Worker;

/// A partition's single row for the last written entity.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("latest")]
struct Latest {
    tenant: String,
    of: String,
}

/// A participant that records the last written entity in that row.
struct RecordLatest(&'static str);

impl Participant<Agent> for RecordLatest {
    fn name(&self) -> &'static str {
        self.0
    }

    fn changes(&self, _: Option<&Agent>, new: Option<&Agent>, out: &mut Changes) -> Result<()> {
        let Some(Agent { tenant, id, .. }) = new else { return Ok(()) };
        out.insert_or_replace(&Latest { tenant: tenant.clone(), of: format!("agent {id}") })
    }
}

impl Participant<Ticket> for RecordLatest {
    fn name(&self) -> &'static str {
        self.0
    }

    fn changes(&self, _: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
        let Some(Ticket { tenant, id, .. }) = new else { return Ok(()) };
        out.insert_or_replace(&Latest { tenant: tenant.clone(), of: format!("ticket {id}") })
    }
}

/// The context of a ticket write.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("audit_", id)]
struct Audit {
    tenant: String,
    id: String,
    agent_name: Option<String>,
    actor: Option<String>,
    request: Option<String>,
}

struct Trail;

impl Participant<Ticket> for Trail {
    fn name(&self) -> &'static str {
        "trail"
    }

    fn changes(&self, _: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
        let Some(Ticket { tenant, agent_name, .. }) = new else { return Ok(()) };
        let (actor, request) = (out.actor().map(str::to_owned), out.correlation_id().map(str::to_owned));
        let (tenant, agent_name) = (tenant.clone(), agent_name.clone());
        out.insert(&Audit { tenant, id: out.id(), agent_name, actor, request })
    }
}

type Store = WithParticipants<Engine>;
type Queue = Outbox<Store, Engine>;

struct Desk {
    store: Store,
    outbox: Queue,
    agents: Entities<Agent, Store, Queue>,
    tickets: Entities<Ticket, Store, Queue>,
}

impl Desk {
    /// Creates a desk with one agent, whose name is copied into the given number of tickets.
    async fn new(store: Store, tickets: u32) -> Result<Self> {
        let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("copies")?);
        outbox.create_queues().await?;
        let agents = store.entities_with_outbox::<Agent, _>(outbox.clone()).create_if_missing().await?;
        agents.insert(&agent(1, "Ada")).await?;
        let all = store.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing().await?;
        for id in 0..tickets {
            all.insert(&ticket(id, Some(1))).await?;
        }
        Ok(Self { store, outbox, agents, tickets: all })
    }

    async fn names(&self) -> Result<Vec<String>> {
        let tickets = self.tickets.query(Ticket::rows("t")).collect().await?;
        Ok(tickets.into_iter().filter_map(|ticket| ticket.agent_name).collect())
    }

    async fn latest(&self) -> Result<String> {
        Ok(self.store.table::<Latest>().get(Latest::key("t")).await?.unwrap().into_value().of)
    }
}

#[test]
fn a_participant_may_replace_one_row_for_a_source_and_its_holders() {
    let of_tickets = Engine::in_memory().with_participant::<Ticket>(RecordLatest("latest"));
    let of_both = Engine::in_memory().with_participant::<Ticket>(RecordLatest("latest"));
    let of_both = of_both.with_participant::<Agent>(RecordLatest("latest"));
    block_on(async {
        for (store, tickets) in [(of_tickets, 2), (of_both, 1)] {
            let desk = Desk::new(store, tickets).await?;
            desk.agents.update(Agent::key("t", 1), |agent| agent.name = "Eve".into()).await?;
            assert!(desk.names().await?.iter().all(|name| name == "Eve"), "in the transaction of the source");
            assert_eq!(desk.latest().await?, format!("ticket {}", tickets - 1));

            let mut unit = desk.tickets.unit(Ticket::partition("t"))?;
            unit.insert(&ticket(8, None))?.insert(&ticket(9, Some(1)))?;
            unit.commit().await?;
            assert_eq!(desk.latest().await?, "ticket 9");
        }
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn holders_are_written_later_if_two_participants_write_the_same_row() {
    let store = Engine::in_memory().with_participant::<Ticket>(RecordLatest("of tickets"));
    let store = store.with_participant::<Agent>(RecordLatest("of agents"));
    block_on(async {
        let desk = Desk::new(store, 2).await?;
        desk.agents.update(Agent::key("t", 1), |agent| agent.name = "Eve".into()).await?;
        assert_eq!(desk.latest().await?, "agent 1");
        let worker = Worker::new(desk.outbox.clone()).with_index_handler(&desk.agents);
        worker.with_index_handler(&desk.tickets).run_until_idle().await?;
        assert_eq!(desk.names().await?, ["Eve", "Eve"]);
        assert_eq!(desk.latest().await?, "ticket 1");
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn participants_of_holders_see_the_context_of_the_unit_that_writes_the_source() {
    block_on(async {
        for of_handle in [false, true] {
            let desk = Desk::new(Engine::in_memory().with_participant::<Ticket>(Trail), 1).await?;
            let read = desk.agents.get(Agent::key("t", 1)).await?.unwrap();
            let mut unit = if of_handle {
                let tickets = desk.tickets.clone().with_actor("ada").with_correlation_id("r1");
                tickets.unit(Ticket::partition("t"))?
            } else {
                let unit = desk.agents.unit(Agent::partition("t"))?;
                unit.with_actor("ada").with_correlation_id("r1")
            };
            unit.update(&read, |agent| agent.name = "Eve".into())?;
            unit.commit().await?;
            let trail = desk.store.table::<Audit>().query(Audit::rows("t")).collect().await?;
            let of = |name: &str| {
                let audit = trail.iter().find(|audit| audit.agent_name.as_deref() == Some(name)).unwrap();
                (audit.actor.as_deref(), audit.request.as_deref())
            };
            assert_eq!((of("Ada"), of("Eve")), ((None, None), (Some("ada"), Some("r1"))), "{of_handle}");
        }
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}
