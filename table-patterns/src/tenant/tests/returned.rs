//! Tests a tenant that returns after its erasure. Running programs rely on its earlier registrations, and sweeps must find its recorded
//! steps.

use std::time::Duration;

use chrono::Utc;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::PartitionKey;
use table_core::queue::QueueStore;

use super::kit::{Step, Ticket, World, some_steps};
use crate::EntityStore;
use crate::outbox::Outbox;

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_sweep_finds_the_steps_of_a_tenant_that_returned_after_its_erasure() {
    for pause in [0, 1, 55, 65, 115, 125, 600] {
        let world = World::after(&some_steps());
        block_on(world.work()).unwrap();
        block_on(world.tenant("contoso").erase()).unwrap();
        for _ in 0..pause / 5 {
            world.pass(5 * MINUTE);
            world.sweep();
        }
        world.pass(pause % 5 * MINUTE);
        // The process dies after the commit, before it sends the message.
        let insert = Step::Insert { title: 1, topic: 1, agent: None, file: None };
        block_on(world.act("contoso", &insert)).unwrap();
        block_on(world.outbox.queues().clear(world.outbox.queue())).unwrap();
        world.pass(MINUTE);
        assert_eq!(world.sweep().pending, 1, "{pause} minutes after the erasure");
        block_on(world.work()).unwrap();
        assert_eq!((world.findings(), world.in_topic("contoso", 1)), (0, 1), "{pause} minutes");
        // The registration of the returned tenant remains.
        for _ in 0..60 {
            world.pass(5 * MINUTE);
            world.sweep();
        }
        block_on(world.act("contoso", &Step::Retitle { number: 1, title: 2, topic: 2 })).unwrap();
        block_on(world.outbox.queues().clear(world.outbox.queue())).unwrap();
        world.pass(MINUTE);
        assert_eq!(world.sweep().pending, 1, "{pause} minutes after the erasure, and five hours later");
    }
}

#[test]
fn a_sweep_finds_the_steps_of_a_bearer_whose_grant_was_issued_after_an_erasure() {
    for pause in [0, 10, 55] {
        let world = World::after(&some_steps());
        block_on(world.work()).unwrap();
        block_on(world.tenant("contoso").erase()).unwrap();
        world.pass(pause * MINUTE);
        // The process that issues the grant had already registered the partition before the erasure.
        let expiry = Utc::now() + 2 * 24 * 60 * MINUTE;
        let contoso = PartitionKey::new("contoso").unwrap();
        let grant = block_on(world.tickets.grant(&contoso, expiry)).unwrap();
        for _ in 0..60 {
            world.pass(5 * MINUTE);
            world.sweep();
        }
        // The bearer of the grant cannot write to the queue.
        let (queue, runtime) = (world.outbox.queue().clone(), world.outbox.runtime().clone());
        let own = Outbox::with_runtime(world.store.clone(), Engine::in_memory(), queue, runtime);
        let tickets = world.store.entities_with_outbox::<Ticket, _>(own).with_grant(&grant).unwrap();
        let ticket = Ticket {
            tenant: "contoso".into(),
            number: 1,
            title: "Title".into(),
            topic: "topic1".into(),
            agent: None,
            agent_name: None,
            rating: 1.0,
            file: None,
        };
        block_on(tickets.insert(&ticket)).unwrap();
        world.pass(10 * MINUTE);
        assert_eq!(world.sweep().pending, 1, "{pause} minutes after the erasure");
        block_on(world.work()).unwrap();
        assert_eq!((world.findings(), world.in_topic("contoso", 1)), (0, 1), "{pause} minutes");
    }
}
