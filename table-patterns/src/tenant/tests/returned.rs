//! Tests of a tenant that returns after its erasure: running programs rely on its earlier registrations, and sweeps find its recorded steps.

use std::time::Duration;

use pollster::block_on;
use table_core::queue::QueueStore;

use super::kit::{Step, World, some_steps};

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
