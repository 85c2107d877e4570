//! Tests an index that has its own partitions in the entities' table. The partition keys of entities may begin with the same text as those of the index.

use std::collections::BTreeSet;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::table::TableStoreExt;
use table_core::{Entity, ErrorCode};

use super::kit::Records;
use crate::EntityStore;

/// An earlier release of the program, which does not have the index.
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

    #[derive(Clone, Debug, PartialEq, table_core::Entity)]
    #[entity(table = "Staff", crate = table_core)]
    #[partition_key(department)]
    #[row_key("no_", id)]
    pub(super) struct Employee {
        pub(super) department: String,
        #[digits(4)]
        pub(super) id: u16,
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

/// An employee. Its index rows have `RowKey`s in the same format as the entities.
#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Staff", crate = table_core)]
#[partition_key(department)]
#[row_key("no_", id)]
#[index(ById, partition_key("id_", department), row_key("no_", id))]
struct Employee {
    department: String,
    #[digits(4)]
    id: u16,
}

fn department() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_]{1,3}", Just("id".to_owned()), "id_[a-z_]{0,2}"]
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

    #[test]
    fn pat_het_2_an_entity_that_scans_would_take_for_an_index_row_is_not_inserted(
        staff in prop::collection::btree_set((department(), 0..3_u16), 1..8),
    ) {
        let (accepted, scanned) = block_on(async {
            let store = Engine::in_memory();
            let table = store.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
            let mut accepted = BTreeSet::new();
            for (at, (department, id)) in staff.iter().enumerate() {
                let one = Employee { department: department.clone(), id: *id };
                let written = match at % 3 {
                    0 => table.insert(&one).await.map(drop),
                    1 => table.insert_or_replace(&one).await.map(drop),
                    _ => table.bulk().insert_all([one]).await.map(drop).map_err(|error| error.source),
                };
                match written {
                    Ok(()) => drop(accepted.insert((department.clone(), *id))),
                    Err(error) => assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-HET-2"))),
                }
            }
            let scanned = table.scan("to compare").max_rows(1_000).collect().await?;
            let scanned: BTreeSet<_> = scanned.into_iter().map(|one| (one.department, one.id)).collect();
            Ok::<_, table_core::Error>((accepted, scanned))
        })
        .unwrap();
        prop_assert_eq!(&accepted, &scanned);
        prop_assert!(staff.iter().all(|one| accepted.contains(one) != one.0.starts_with("id_")));
    }
}

#[test]
fn pat_het_2_an_entity_of_an_older_release_can_be_changed_by_every_verb() {
    let store = Engine::in_memory();
    block_on(async {
        let old = store.table::<before::Employee>().create_if_missing().await.unwrap();
        old.insert(&before::Employee { department: "id_Sales".into(), id: 1 }).await.unwrap();
        let table = store.entities_with_outbox::<Employee, _>(Records::default());
        let table = table.create_if_missing().await.unwrap();
        let one = Employee { department: "id_Sales".into(), id: 1 };
        table.insert_or_replace(&one).await.unwrap();
        table.insert_or_merge(&one).await.unwrap();
        table.bulk().insert_or_replace_all([&one]).await.unwrap();
        table.bulk().insert_or_merge_all([&one]).await.unwrap();
        table.bulk().delete_all([Employee::key("id_Sales", 1)]).await.unwrap();
    });
}
