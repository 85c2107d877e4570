//! Tests tenants whose partitions also contain the rows of an index in other partitions.

use std::sync::Arc;

use object_store::memory::InMemory;
use pollster::block_on;
use table_core::Entity;
use table_core::embedded::Engine;
use table_core::queue::QueueName;

use super::kit::{export, import};
use crate::EntityStore;
use crate::entities::Entities;
use crate::index::ListBlobs;
use crate::outbox::Outbox;
use crate::tenant::Tenant;
use crate::work::Worker;

type Out = Outbox<Engine, Engine>;

/// An event of a user. The keys of both indexes begin with the tenant.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Events")]
#[partition_key(tenant, user)]
#[row_key("event_", number)]
#[index(ByKind, partition_key(tenant, kind), row_key("kind_", number, "_", escaped(user)))]
#[index_entity(Kinds, at_most = 100, partition_key(tenant, kind), row_key("all"))]
struct Event {
    tenant: String,
    user: String,
    #[digits(4)]
    number: u32,
    #[digits(2)]
    kind: u8,
}

struct World {
    outbox: Out,
    events: Entities<Event, Engine, Out>,
}

impl World {
    fn new() -> Self {
        let store = Engine::in_memory();
        let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("events").unwrap());
        block_on(outbox.create_queues()).unwrap();
        let lists = ListBlobs::new(Arc::new(InMemory::new()), "lists").spill_above(0);
        let events = store.entities_with_outbox::<Event, _>(outbox.clone()).with_list_blobs(lists);
        Self { outbox, events: block_on(events.create_if_missing()).unwrap() }
    }

    fn tenant(&self, name: &str) -> Tenant {
        Tenant::new().with_entities(&self.events, Event::within(name)).unwrap()
    }

    fn work(&self) {
        block_on(Worker::new(self.outbox.clone()).with_index_handler(&self.events).run_until_idle()).unwrap();
    }

    fn assert_complete(&self, tenant: &str) {
        self.work();
        let report = block_on(self.events.check().run()).unwrap();
        assert!(report.is_clean(), "{report:?}");
        let found = block_on(self.events.get_by_index_eventual(Event::kinds(tenant, 5))).unwrap();
        assert_eq!(found.len(), 3);
    }
}

fn filled() -> World {
    let world = World::new();
    for user in ["ada", "ben", "cy"] {
        let event = Event { tenant: "contoso".into(), user: user.into(), number: 1, kind: 5 };
        block_on(world.events.insert(&event)).unwrap();
    }
    world.work();
    world
}

#[test]
fn pat_inter_3_index_rows_in_the_partitions_of_the_tenant_are_derived_again() {
    let (from, to) = (filled(), World::new());
    let text = export(&from.tenant("contoso"));
    assert!(!text.contains("\"all\"") && !text.contains("kind_0001"), "{text}");
    import(&to.tenant("contoso"), &text).unwrap();
    to.assert_complete("contoso");
}

#[test]
fn pat_inter_3_a_renamed_tenant_has_no_list_with_the_old_keys() {
    let world = filled();
    block_on(world.tenant("contoso").copy_to(&world.tenant("fabrikam"))).unwrap();
    world.assert_complete("fabrikam");
    block_on(world.tenant("contoso").erase()).unwrap();
    world.assert_complete("fabrikam");
}
