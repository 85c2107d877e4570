//! Tests an erasure while another process writes entities with a feed.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, PartitionKey};

use crate::EntityStore;
use crate::tenant::Tenant;
use crate::tests::faults::{Call, Fault, FaultyStore};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Rooms", feed)]
#[partition_key(tenant)]
#[row_key("room_", number)]
struct Room {
    tenant: String,
    number: u32,
}

fn room(number: usize) -> Room {
    Room { tenant: "contoso".into(), number: u32::try_from(number).unwrap() }
}

#[test]
fn pat_ec_8_a_feed_that_a_late_writer_creates_during_an_erasure_is_listed() {
    // A late writer writes before each request from number `first` on, or before every second one of them.
    for (first, step) in (0..30).flat_map(|first| [(first, 1), (first, 2)]) {
        let (engine, partition_key) = (Engine::in_memory(), PartitionKey::new("contoso").unwrap());
        let store = FaultyStore::new(engine.clone());
        let rooms = block_on(store.entities::<Room>().create_if_missing()).unwrap();
        let late = block_on(engine.entities::<Room>().create_if_missing()).unwrap();
        block_on(rooms.insert(&room(0))).unwrap();
        let tenant = Tenant::new().with_entities(&rooms, Room::partition("contoso")).unwrap();
        let writer = late.clone();
        store.script(move |call, number| {
            let writer = writer.clone();
            match call {
                Call::Submit | Call::Get if number >= first && (number - first) % step == 0 => {
                    Fault::Meanwhile(Box::new(move || {
                        block_on(writer.insert(&room(number + 1))).unwrap();
                    }))
                }
                _ => Fault::None,
            }
        });
        let _ = block_on(tenant.erase());
        store.heal();
        let (feed, table) = (late.feed(), late.table().name().unwrap());
        let head = block_on(feed.head(table, &partition_key)).unwrap();
        let is_listed = block_on(feed.partitions(table)).unwrap().contains(&partition_key);
        let is_active = head.is_some_and(|(head, _)| !head.is_quiet());
        assert!(is_listed || !is_active, "from request {first}, step {step}");
        // The writers have ended.
        block_on(tenant.erase()).unwrap();
        assert!(block_on(feed.partitions(table)).unwrap().is_empty(), "from request {first}, step {step}");
    }
}
