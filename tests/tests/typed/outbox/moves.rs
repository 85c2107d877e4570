//! Tests an entity with a unique index in another partition. When the entity moves to a different partition, it is inserted
//! there before it is deleted from the old one (PAT-EC-4, PAT-INTER-3).

use std::num::NonZeroU32;
use std::time::Duration;

use pollster::block_on;
use table_core::embedded::{EngineOptions, FaultInjection};
use table_core::{Engine, Entity, IfMatch, QueueName, TableEntity, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::outbox::Outbox;
use table_patterns::work::{Sweep, Worker};
use tests::time::Time;

#[expect(clippy::duplicated_attributes, reason = "each index has separate attributes")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Parcels")]
#[partition_key(depot)]
#[row_key("parcel_", number)]
#[index(Tracking, unique, table = "Tracking", partition_key(code), row_key("code"))]
#[index(ByCode, table = "Codes", partition_key(code), row_key(escaped(depot), "!", number))]
#[index_entity(All, at_most = 10, table = "Lists", partition_key(code), row_key("all"))]
struct Parcel {
    depot: String,
    #[digits(8)]
    number: u32,
    code: String,
}

#[test]
fn pat_ec_4_a_value_released_after_an_hour_goes_to_the_next_owner_unaided() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let queue = QueueName::new("parcels").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue, time.runtime());
        outbox.create_queues().await.unwrap();
        let parcels = store.entities_with_outbox::<Parcel, _>(outbox.clone()).with_runtime(time.runtime());
        let parcels = parcels.create_if_missing().await.unwrap();
        let worker = Worker::new(outbox.clone()).with_index_handler(&parcels);
        let work = async |minutes: usize| {
            for _ in 0..minutes {
                worker.run_until_idle().await.unwrap();
                time.pass(Duration::from_secs(60));
                Sweep::new(outbox.clone()).sweep_registered().await.unwrap();
            }
        };
        let depot = async || {
            let found = parcels.get_eventual(Parcel::tracking("N1")).await.unwrap();
            found.map(|found| found.owner().partition_key.as_str().to_owned())
        };
        let parcel = |depot: &str| Parcel { depot: depot.into(), number: 1, code: "N1".into() };
        parcels.insert(&parcel("oslo")).await.unwrap();
        work(1).await;
        parcels.insert(&parcel("bergen")).await.unwrap();
        work(60).await;
        assert_eq!(depot().await.as_deref(), Some("oslo"));
        assert_eq!(parcels.query_eventual(Parcel::by_code("N1")).collect().await.unwrap().len(), 2);
        assert_eq!(parcels.keys_of(Parcel::all("N1")).await.unwrap().len(), 2);
        assert!(worker.metrics().failures < 20, "the delays grow: {}", worker.metrics().failures);

        parcels.delete(Parcel::key("oslo", 1), IfMatch::Any).await.unwrap();
        work(20).await;
        assert_eq!(depot().await.as_deref(), Some("bergen"));
        assert_eq!(outbox.backlog().await.unwrap().poison, 0);
        assert_eq!(Sweep::new(outbox.clone()).sweep_registered().await.unwrap().pending, 0);
    });
}

#[test]
fn pat_ec_4_an_outage_makes_no_poison_of_an_intent_whose_value_is_contested() {
    block_on(async {
        let time = Time::default();
        let busy = FaultInjection { busy_every: NonZeroU32::new(1), ..FaultInjection::default() };
        let down = EngineOptions::new().clock(time.clock()).faults(busy).in_memory();
        let store = down.without_fault_injection();
        let queue = QueueName::new("parcels").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue, time.runtime());
        outbox.create_queues().await.unwrap();
        let parcels = store.entities_with_outbox::<Parcel, _>(outbox.clone()).with_runtime(time.runtime());
        let parcels = parcels.create_if_missing().await.unwrap();
        let refused = down.entities_with_outbox::<Parcel, _>(outbox.clone()).with_runtime(time.runtime());
        let work = async |worker: &Worker<Engine, Engine>, minutes: usize| {
            for _ in 0..minutes {
                worker.run_until_idle().await.unwrap();
                time.pass(Duration::from_secs(60));
                Sweep::new(outbox.clone()).sweep_registered().await.unwrap();
            }
        };
        let worker = Worker::new(outbox.clone()).with_index_handler(&parcels);
        let parcel = |depot: &str| Parcel { depot: depot.into(), number: 1, code: "N1".into() };
        parcels.insert(&parcel("oslo")).await.unwrap();
        work(&worker, 1).await;
        parcels.insert(&parcel("bergen")).await.unwrap();
        work(&worker, 60).await;

        let during_outage = Worker::new(outbox.clone()).with_index_handler(&refused);
        work(&during_outage, 60).await;
        assert!(during_outage.metrics().outages > 0, "{:?}", during_outage.metrics());
        parcels.delete(Parcel::key("oslo", 1), IfMatch::Any).await.unwrap();
        work(&worker, 60).await;
        assert_eq!(outbox.backlog().await.unwrap().poison, 0);
        let found = parcels.get_eventual(Parcel::tracking("N1")).await.unwrap();
        assert_eq!(
            found.map(|found| found.owner().partition_key.as_str().to_owned()).as_deref(),
            Some("bergen")
        );
    });
}

#[test]
fn pat_ec_5_an_index_entry_that_cannot_be_written_does_not_stop_the_other_entries() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let queue = QueueName::new("parcels").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue, time.runtime());
        outbox.create_queues().await.unwrap();
        let parcels = store.entities_with_outbox::<Parcel, _>(outbox.clone()).with_runtime(time.runtime());
        let parcels = parcels.create_if_missing().await.unwrap();
        // Another program has a row at the key of the first entry.
        let strange = TableEntity::new("N1", "code").unwrap().with("A", 1);
        store.untyped("Tracking").unwrap().insert(&strange).await.unwrap();
        parcels.insert(&Parcel { depot: "oslo".into(), number: 1, code: "N1".into() }).await.unwrap();
        let worker = Worker::new(outbox.clone()).with_index_handler(&parcels);
        worker.run_until_idle().await.unwrap();
        assert!(worker.metrics().failures > 0, "{:?}", worker.metrics());
        assert_eq!(parcels.query_eventual(Parcel::by_code("N1")).collect().await.unwrap().len(), 1);
        assert_eq!(parcels.keys_of(Parcel::all("N1")).await.unwrap().len(), 1);
    });
}
