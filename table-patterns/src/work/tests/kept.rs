//! Tests sweeps over partitions with grants. The bearers of the grants may not write to the registry or to the queue.

use std::time::Duration;

use table_core::runtime::ticks_of;
use table_core::{Entity, ticks};

use super::*;
use crate::EntityStore;
use crate::tenant::Tenant;

/// An entity with an index in another table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Parcels")]
#[partition_key(tenant)]
#[row_key("parcel_", number)]
#[index(Everywhere, unique, table = "Codes", partition_key("code"), row_key(code))]
struct Parcel {
    tenant: String,
    #[digits(6)]
    number: u32,
    code: String,
}

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn partition(at: usize) -> PartitionKey {
    PartitionKey::new(format!("t{at}")).unwrap()
}

#[test]
fn every_sweep_reads_the_partitions_whose_grants_have_not_expired() {
    block_on(async {
        let (outbox, engine, time) = outbox();
        let pass = |span: Duration| {
            time.fetch_add(ticks_of(span), Ordering::SeqCst);
        };
        let sweep = async || Sweep::new(outbox.clone()).sweep_registered().await.unwrap();
        let runtime = || outbox.runtime().clone();
        let all = engine.entities_with_outbox::<Parcel, _>(outbox.clone()).with_runtime(runtime());
        let all = all.create_if_missing().await.unwrap();
        let grant = async |at, span: Duration| {
            let expiry = ticks::to_datetime(time.load(Ordering::SeqCst) + ticks_of(span)).unwrap();
            all.grant(&partition(at), expiry).await.unwrap()
        };
        let mut grants = Vec::new();
        for at in 0..150 {
            grants.push(grant(at, 9 * DAY).await);
        }
        // A shorter grant is issued later.
        grant(7, DAY).await;
        pass(3 * HOUR);
        let idle = sweep().await;
        assert_eq!((idle.partitions, idle.quiet, idle.failed), (150, 0, 0));

        let queue = outbox.queue().clone();
        let own = Outbox::with_runtime(engine.clone(), Engine::in_memory(), queue, runtime());
        for (at, grant) in grants.iter().enumerate().skip(5).take(10) {
            let bearer = engine.entities_with_outbox::<Parcel, _>(own.clone()).with_runtime(runtime());
            let (tenant, code) = (partition(at).into_string(), at.to_string());
            let parcel = Parcel { tenant, number: 1, code };
            bearer.with_grant(grant).unwrap().insert(&parcel).await.unwrap();
        }
        pass(HOUR / 6);
        assert_eq!(sweep().await.prompted, 10);
        Worker::new(outbox.clone()).with_index_handler(&all).run_until_idle().await.unwrap();

        let kept = async || {
            let rows = engine.untyped(REGISTRY).unwrap().scan("to count").max_rows(10_000).collect().await;
            rows.unwrap().iter().filter(|row| row.get("Until").is_some()).count()
        };
        let tenant = Tenant::new().with_entities(&all, Parcel::partition("t0")).unwrap();
        assert_eq!(kept().await, 150);
        tenant.erase().await.unwrap();
        assert_eq!((tenant.remaining().await.unwrap(), kept().await), (0, 149));

        pass(5 * DAY);
        assert_eq!((sweep().await.partitions, kept().await), (150, 149));
        pass(5 * DAY);
        for _ in 0..2 {
            sweep().await;
        }
        let later = sweep().await;
        assert!(later.partitions <= 64 && later.failed == 0, "{later:?}");
        assert_eq!(kept().await, 0);
    });
}
