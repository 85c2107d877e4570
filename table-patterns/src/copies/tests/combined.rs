//! Tests copied entities and holders of copies that also have indexes, lists and feeds, which every update of a copy must maintain.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::queue::QueueName;
use table_core::selection::{Point, Selection};
use table_core::{Entity, ErrorCode, TableEntity, TableStoreExt};

use crate::EntityStore;
use crate::copies::{CopyRelation, OnDelete};
use crate::entities::Entities;
use crate::feed::{Cursor, Feed};
use crate::outbox::Outbox;
use crate::work::Worker;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed, copied_by(Assignee))]
#[partition_key(tenant)]
#[row_key("agent_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Agent {
    tenant: String,
    #[digits(4)]
    id: u32,
    name: String,
    email: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed, copies_from(Assignee))]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(Names, table = "Names", partition_key("name_", agent_name), row_key(tenant, "_", number))]
#[index_entity(ByAgent, at_most = 100, row_key("named_", agent_name))]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
    /// The number of the agent, who belongs to the same tenant or, if `central` is `true`, to the tenant `central`.
    agent: Option<i32>,
    central: bool,
    agent_name: Option<String>,
}

struct Assignee;

impl CopyRelation for Assignee {
    type Source = Agent;
    type Holder = Ticket;
    type Copied = String;
    const NAME: &'static str = "assignee";
    const ON_DELETE: OnDelete = OnDelete::Clear;

    fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
        let tenant = if ticket.central { "central" } else { &ticket.tenant };
        Some(Agent::key(tenant, u32::try_from(ticket.agent?).ok()?))
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

/// The result of [`Desk::named`] if neither index contains the name.
const NONE: [Vec<u32>; 2] = [Vec::new(), Vec::new()];

type Through = Outbox<Engine, Engine>;

struct Desk {
    outbox: Through,
    tickets: Entities<Ticket, Engine, Through>,
    agents: Entities<Agent, Engine, Through>,
}

impl Desk {
    fn new() -> Self {
        let engine = Engine::in_memory();
        let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("work").unwrap());
        block_on(outbox.create_queues()).unwrap();
        let tickets = engine.entities_with_outbox::<Ticket, _>(outbox.clone());
        let tickets = block_on(tickets.create_if_missing()).unwrap();
        let agents: Entities<Agent, _, _> = outbox.clone().into();
        let agents = block_on(agents.create_if_missing()).unwrap();
        Self { outbox, tickets, agents }
    }

    fn work(&self) {
        let worker = Worker::new(self.outbox.clone())
            .with_index_handler(&self.agents)
            .with_index_handler(&self.tickets);
        block_on(worker.run_until_idle()).unwrap();
        let report = block_on(self.tickets.check().run()).unwrap();
        assert!(report.is_clean(), "{:?}", report.findings);
    }

    /// Returns the tickets whose agent is named `name`, as found by the same-partition index and by the remote index.
    fn named(&self, name: &str) -> [Vec<u32>; 2] {
        let here = block_on(self.tickets.get_by_index(Ticket::by_agent("contoso", name))).unwrap();
        let there = block_on(self.tickets.query_eventual(Ticket::names(name)).collect()).unwrap();
        let there = there.into_iter().map(|ticket| ticket.into_possibly_stale().number);
        [here.iter().map(|ticket| ticket.number).collect(), there.collect()]
    }

    /// Returns the number of feed entries for a ticket.
    fn entries(&self, row_key: &str) -> usize {
        let feed = Feed::new(self.outbox.store().clone());
        let (table, partition) = (TableName::new("Desk").unwrap(), PartitionKey::new("contoso").unwrap());
        let entries = block_on(feed.read(&table, &partition, &Cursor::default(), 1_000)).unwrap();
        entries.iter().filter(|entry| entry.source.as_str() == row_key).count()
    }
}

fn agent(tenant: &str, name: &str, email: &str) -> Agent {
    Agent { tenant: tenant.into(), id: 7, name: name.into(), email: email.into() }
}

fn ticket(number: u32, central: bool) -> Ticket {
    Ticket { tenant: "contoso".into(), number, agent: Some(7), central, agent_name: None }
}

/// Tests that a copy, its index entries and the feed record change together (PAT-DEN-2, PAT-INTRA-4).
#[test]
fn pat_den_2_a_renamed_source_updates_holder_indexes_in_one_transaction() {
    let desk = Desk::new();
    block_on(desk.agents.insert(&agent("contoso", "Ada", "ada@contoso.com"))).unwrap();
    block_on(desk.tickets.insert(&ticket(1, false))).unwrap();
    desk.work();
    assert_eq!(desk.named("Ada"), [vec![1], vec![1]]);

    let rename = |agent: &mut Agent| agent.name = "Grace".into();
    block_on(desk.agents.update(Agent::key("contoso", 7), rename)).unwrap();
    assert_eq!(desk.named("Grace")[0], [1], "the list of the partition is in the transaction");
    desk.work();
    assert_eq!((desk.named("Ada"), desk.named("Grace")), (NONE, [vec![1], vec![1]]));
    assert_eq!(desk.entries("ticket_000001"), 2, "inserted, and updated by its source");
    assert_eq!(desk.entries("agent_0007"), 2);
}

#[test]
fn pat_den_2_a_cross_partition_source_updates_holder_indexes_by_the_outbox() {
    let desk = Desk::new();
    block_on(desk.agents.insert(&agent("central", "Ada", "ada@contoso.com"))).unwrap();
    for number in 1..=3 {
        block_on(desk.tickets.insert(&ticket(number, true))).unwrap();
    }
    desk.work();
    assert_eq!(desk.named("Ada"), [vec![1, 2, 3], vec![1, 2, 3]]);

    let rename = |agent: &mut Agent| agent.name = "Grace".into();
    block_on(desk.agents.update(Agent::key("central", 7), rename)).unwrap();
    desk.work();
    assert_eq!((desk.named("Ada"), desk.named("Grace")), (NONE, [vec![1, 2, 3], vec![1, 2, 3]]));
    assert_eq!(desk.entries("ticket_000002"), 2);

    block_on(desk.agents.delete(Agent::key("central", 7), IfMatch::Any)).unwrap();
    desk.work();
    assert_eq!(desk.named("Grace"), NONE);
    block_on(desk.tickets.delete(Ticket::key("contoso", 2), IfMatch::Any)).unwrap();
    desk.work();
    assert_eq!(desk.entries("ticket_000002"), 4);
}

#[test]
fn pat_intra_5_a_source_keeps_its_own_unique_index() {
    let desk = Desk::new();
    block_on(desk.agents.insert(&agent("contoso", "Ada", "ada@contoso.com"))).unwrap();
    let other = Agent { id: 8, ..agent("contoso", "Bob", "bob@contoso.com") };
    block_on(desk.agents.insert(&other)).unwrap();
    let take = |agent: &mut Agent| agent.email = "ada@contoso.com".into();
    let error = block_on(desk.agents.update(Agent::key("contoso", 8), take)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::UniqueViolation);
}

/// Tests that `settle_copies` repairs the copies in an entity written by another tool, and updates the entity's index entries.
#[test]
fn pat_den_2_settlement_maintains_the_indexes_of_a_holder() {
    let desk = Desk::new();
    block_on(desk.agents.insert(&agent("contoso", "Ada", "ada@contoso.com"))).unwrap();
    block_on(desk.tickets.insert(&ticket(1, false))).unwrap();
    // This change simulates a tool that does not maintain copies.
    let rename = |agent: &mut TableEntity| drop(agent.insert("Name", "Nemo"));
    let bag = desk.outbox.store().untyped("Desk").unwrap();
    block_on(bag.update(Selection::point("contoso", "agent_0007"), rename)).unwrap();
    assert_eq!(block_on(desk.tickets.settle_copies(Ticket::key("contoso", 1))).unwrap(), 1);
    desk.work();
    assert_eq!((desk.named("Ada"), desk.named("Nemo")), (NONE, [vec![1], vec![1]]));
}
