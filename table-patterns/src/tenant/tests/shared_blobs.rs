//! Tests types with lists in one folder or in two folders of a blob store, and lists in a partition registered for a different type.

use std::sync::Arc;

use futures_util::StreamExt;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, Result};

use crate::EntityStore;
use crate::entities::Entities;
use crate::index::ListBlobs;
use crate::tenant::Tenant;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Shop")]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index_entity(ByTopic, at_most = 100, row_key("topic_", topic))]
struct Ticket {
    tenant: String,
    #[digits(4)]
    number: u32,
    topic: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Shop")]
#[partition_key("agents_", tenant)]
#[row_key("agent_", id)]
#[index_entity(ByTeam, at_most = 100, row_key("team_", team))]
struct Agent {
    tenant: String,
    #[digits(4)]
    id: u32,
    team: String,
}

struct World {
    blobs: Arc<InMemory>,
    tickets: Entities<Ticket, Engine>,
    agents: Entities<Agent, Engine>,
}

impl World {
    /// Creates a store whose lists are all stored in blobs. The tickets and the agents each have a folder for their lists; it may be the same folder.
    async fn new([of_tickets, of_agents]: [&str; 2]) -> Result<Self> {
        let (store, blobs) = (Engine::in_memory(), Arc::new(InMemory::new()));
        let lists = |folder| ListBlobs::new(blobs.clone(), folder).spill_above(0);
        let tickets = store.entities().with_list_blobs(lists(of_tickets)).create_if_missing().await?;
        let agents = store.entities().with_list_blobs(lists(of_agents)).create_if_missing().await?;
        Ok(Self { blobs, tickets, agents })
    }

    /// Inserts an agent, and a ticket in the agent's partition. Each of them has a list.
    async fn insert(&self, tenant: &str) -> Result<()> {
        let in_agents = format!("agents_{tenant}");
        self.tickets.insert(&Ticket { tenant: in_agents, number: 1, topic: "a".into() }).await?;
        self.agents.insert(&Agent { tenant: tenant.into(), id: 1, team: "b".into() }).await.map(drop)
    }

    fn blobs(&self) -> usize {
        block_on(self.blobs.list(None).count())
    }

    fn with_tickets(&self, tenant: Tenant, partition: &str) -> Tenant {
        tenant.with_entities(&self.tickets, Ticket::partition(partition)).unwrap()
    }

    fn with_agents(&self, tenant: Tenant, partition: &str) -> Tenant {
        tenant.with_entities(&self.agents, Agent::partition(partition)).unwrap()
    }
}

/// A function that registers the types of a world for the tenant `contoso`.
type Register = fn(&World) -> Tenant;

/// All ways to register the types such that the agents' partition is included exactly once.
const REGISTRATIONS: [Register; 5] = [
    |world| world.with_agents(world.with_tickets(Tenant::new(), "agents_contoso"), "contoso"),
    |world| world.with_tickets(world.with_agents(Tenant::new(), "contoso"), "agents_contoso"),
    |world| {
        let twice = world.with_agents(world.with_agents(Tenant::new(), "contoso"), "contoso");
        world.with_tickets(twice, "agents_contoso")
    },
    // The selection of the other type is empty.
    |world| world.with_agents(world.with_tickets(Tenant::new(), "agents_contoso"), "none"),
    |world| world.with_tickets(world.with_agents(Tenant::new(), "contoso"), "none"),
];

#[test]
fn lists_in_blobs_of_several_types_are_counted_once_copied_and_erased() {
    let folders = [["lists", "lists"], ["lists", "more"]];
    for (folders, at) in
        folders.into_iter().flat_map(|folders| (0..REGISTRATIONS.len()).map(move |at| (folders, at)))
    {
        let (from, to, register) = (
            block_on(World::new(folders)).unwrap(),
            block_on(World::new(folders)).unwrap(),
            REGISTRATIONS[at],
        );
        for tenant in ["contoso", "adatum"] {
            block_on(from.insert(tenant)).unwrap();
        }
        let theirs = from.blobs() / 2;
        let all = u64::try_from(theirs).unwrap();
        let tenant = register(&from);
        let count = block_on(tenant.count()).unwrap();
        let entities: u64 = count.entities.values().sum();
        assert_eq!((count.blobs, entities), (all, 2), "registration {at}, {folders:?}");
        let copied = block_on(tenant.copy_to(&register(&to))).unwrap();
        assert_eq!((copied.blobs, to.blobs()), (all, theirs), "registration {at}, {folders:?}");
        let erased = block_on(tenant.erase()).unwrap();
        assert_eq!((erased.blobs, from.blobs()), (all, theirs), "registration {at}, {folders:?}");
    }
}
