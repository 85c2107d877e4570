//! Tests a tenant with an entity set whose types have `PartitionKey`s in different formats.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::queue::QueueName;
use table_core::{Entity, EntitySet, ErrorCode, TableEntity};

use crate::EntityStore;
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::tenant::Tenant;
use crate::work::Worker;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Shop", set = Shop)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
struct Ticket {
    tenant: String,
    #[digits(4)]
    number: u32,
}

/// An entity with index rows in another table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Shop", set = Shop)]
#[partition_key("agents_", tenant)]
#[row_key("agent_", id)]
#[index(ByMail, table = "Mails", partition_key(mail), row_key(tenant, "_", id))]
struct Agent {
    #[without('_')]
    tenant: String,
    #[digits(4)]
    id: u32,
    mail: String,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Shop {
    Ticket(Ticket),
    Agent(Agent),
    #[other]
    Other(TableEntity),
}

type Out = Outbox<Engine, Engine>;

struct World {
    tickets: Entities<Ticket, Engine>,
    agents: Entities<Agent, Engine, Out>,
    outbox: Out,
}

impl World {
    fn new() -> Self {
        let store = Engine::in_memory();
        let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("work").unwrap());
        block_on(async {
            outbox.create_queues().await?;
            let tickets = store.entities::<Ticket>().create_if_missing().await?;
            let agents = store.entities_with_outbox::<Agent, _>(outbox.clone()).create_if_missing().await?;
            Ok::<_, table_core::Error>(Self { tickets, agents, outbox })
        })
        .unwrap()
    }

    /// Inserts a ticket and an agent for a tenant.
    fn insert(&self, tenant: &str) {
        let agent = Agent { tenant: tenant.into(), id: 1, mail: "ada".into() };
        block_on(async {
            self.tickets.insert(&Ticket { tenant: tenant.into(), number: 1 }).await?;
            self.agents.insert(&agent).await?;
            Worker::new(self.outbox.clone()).with_index_handler(&self.agents).run_until_idle().await
        })
        .unwrap();
    }

    fn tenant(&self, name: &str, is_reversed: bool) -> Tenant {
        let tickets = |of: Tenant| of.with_entities(&self.tickets, Ticket::partition(name)).unwrap();
        let agents = |of: Tenant| of.with_entities(&self.agents, Agent::partition(name)).unwrap();
        if is_reversed { tickets(agents(Tenant::new())) } else { agents(tickets(Tenant::new())) }
    }

    /// Returns the tenants of the agents with the e-mail address `ada`, which all agents have.
    fn by_mail(&self) -> Vec<String> {
        let found = block_on(self.agents.query_eventual(Agent::by_mail("ada")).collect()).unwrap();
        found.into_iter().map(|agent| agent.possibly_stale().tenant.clone()).collect()
    }
}

#[test]
fn a_set_whose_types_have_different_partitions_is_copied_and_erased() {
    for is_reversed in [false, true] {
        let (from, to) = (World::new(), World::new());
        for tenant in ["adatum", "contoso"] {
            from.insert(tenant);
        }
        let tenant = from.tenant("contoso", is_reversed);
        let count = block_on(tenant.count()).unwrap();
        assert_eq!((count.entities["Ticket"], count.entities["Agent"], count.rows()), (1, 1, 2));
        let imported = block_on(tenant.copy_to(&to.tenant("contoso", is_reversed))).unwrap();
        assert_eq!((imported.rows, imported.remote_rows, to.by_mail()), (2, 1, vec!["contoso".to_owned()]));
        let erased = block_on(tenant.erase()).unwrap();
        assert_eq!((erased.rows, erased.remote_rows, from.by_mail()), (2, 1, vec!["adatum".to_owned()]));
        assert_eq!(block_on(tenant.remaining()).unwrap(), 0);
    }
}

#[test]
fn entities_in_the_partition_of_another_type_are_erased_with_their_remote_rows() {
    let world = World::new();
    world.insert("contoso");
    // A ticket's PartitionKey can also be the partition of the agents. The selection of the agents is empty.
    let tenant = Tenant::new().with_entities(&world.tickets, Ticket::partition("agents_contoso")).unwrap();
    let error = block_on(tenant.clone().erase()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
    let tenant = tenant.with_entities(&world.agents, Agent::partition("adatum")).unwrap();
    let erased = block_on(tenant.erase()).unwrap();
    assert_eq!((erased.rows, erased.remote_rows, world.by_mail()), (1, 1, Vec::new()));
}
