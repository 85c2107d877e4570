//! Tests of an index whose partitions are in the entities' table, where the values of the entities' partition keys start like those of the index.

use std::collections::BTreeSet;

use pollster::block_on;
use proptest::prelude::*;
use table_core::Entity;
use table_core::embedded::Engine;
use table_core::table::TableStoreExt;

use super::kit::Records;
use crate::EntityStore;

/// The program of an earlier release, without the index.
mod before {
    #[derive(Clone, Debug, PartialEq, table_core::Entity)]
    #[entity(table = "Streams", crate = table_core)]
    #[partition_key(stream)]
    #[row_key("event_", version)]
    pub(super) struct Event {
        pub(super) stream: String,
        #[digits(4)]
        pub(super) version: u16,
        pub(super) kind: String,
    }
}

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Streams", crate = table_core)]
#[partition_key(stream)]
#[row_key("event_", version)]
#[index(ByKind, partition_key("kind_", kind), row_key(version, "_", stream))]
struct Event {
    stream: String,
    #[digits(4)]
    version: u16,
    kind: String,
}

fn stream() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_`]{1,3}", Just("kind".to_owned()), "kind_[a-z_]{0,2}", Just("kind`".to_owned())]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pat_inter_1_a_scan_and_a_backfill_find_the_entities_of_every_partition(
        events in prop::collection::btree_set((stream(), 0..5_u16), 1..8),
    ) {
        let found: table_core::Result<_> = block_on(async {
            let store = Engine::in_memory();
            let old = store.table::<before::Event>().create_if_missing().await?;
            for (stream, version) in &events {
                old.insert(&before::Event { stream: stream.clone(), version: *version, kind: "Deposited".into() }).await?;
            }
            let table = store.entities_with_outbox::<Event, _>(Records::default()).create_if_missing().await?;
            let built = table.backfill::<EventByKind>().assume_no_older_programs().run().await?;
            let scanned = table.scan("to compare").max_rows(1_000).collect().await?;
            let indexed = table.query_eventual(Event::by_kind("Deposited")).collect().await?;
            let left = table.check().run().await?;
            let scanned: BTreeSet<_> = scanned.into_iter().map(|event| (event.stream, event.version)).collect();
            let indexed: BTreeSet<_> = indexed.iter().map(|event| (event.possibly_stale().stream.clone(), event.possibly_stale().version)).collect();
            Ok((built.repaired, scanned, indexed, left.findings.len()))
        });
        let (built, scanned, indexed, left) = found.unwrap();
        prop_assert_eq!(built, events.len() as u64);
        prop_assert_eq!(&scanned, &events);
        prop_assert_eq!(&indexed, &events);
        prop_assert_eq!(left, 0);
    }
}
