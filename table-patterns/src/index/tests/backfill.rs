//! Tests that a backfill fills its transactions, runs several of them concurrently, and obeys a rate limit.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pollster::block_on;
use table_core::ErrorCode;
use table_core::embedded::{Clock, Engine};
use table_core::etag::IfMatch;
use table_core::runtime::{Runtime, ticks_of};
use table_core::table::TableStoreExt;

use super::disturbed::Disturbed;
use super::kit::{Records, Staff, StaffByAge, StaffByEmail, StaffByLastName, ada, expected, stored};
use super::old::old_rows;
use crate::EntityStore;
use crate::index::FindingKind;
use crate::index::fixture::{Employee, EmployeeByBadge, EmployeeNamesakes, jones};

/// Creates entities with the given IDs in one department. Three entities share each list.
fn staff(ids: std::ops::Range<u32>, department: &str) -> Vec<Staff> {
    let one = |id: u32| Staff {
        department: department.to_owned(),
        id,
        last_name: format!("Name{}", id / 3),
        email: Some(format!("mail{id}")),
        ..ada()
    };
    ids.map(one).collect()
}

/// The number of transactions that record progress. There is one at the start of the pass, one after the phase over index rows, and one when the index is
/// ready.
const NOTES: usize = 3;

#[test]
fn egt_2_a_backfill_writes_as_many_entities_as_fit_in_a_transaction() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let mut entities = staff(0..120, "Sales");
        entities.extend(staff(120..130, "Marketing"));
        old_rows(&store, &entities).await?;
        let table = store.entities::<Staff>().create_if_missing().await?;
        let (built, _, submits) =
            store.count(table.backfill::<StaffByEmail>().assume_no_older_programs().run()).await;
        assert_eq!((built?.repaired, submits), (130, NOTES + 3 + 1), "an entity and its copy: fifty of them");
        let (built, _, submits) =
            store.count(table.backfill::<StaffByLastName>().assume_no_older_programs().run()).await;
        // Each entity reserves an operation for its list, even if another entity in the transaction has the same list. 74 entities with 25 lists take 99
        // operations, so no further entity fits.
        assert_eq!((built?.repaired, submits), (130, NOTES + 2 + 1), "an entity, and one list for three");
        table.backfill::<StaffByAge>().assume_no_older_programs().run().await?;
        assert_eq!(stored(&store, &["Company"]).await?, expected(&entities));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

mod heavy {
    pub(super) mod before {
        #[derive(Clone, Debug, table_core::Entity)]
        #[entity(table = "Heavy", crate = table_core)]
        #[partition_key(shelf)]
        #[row_key("item_", id)]
        pub(in super::super) struct Item {
            pub(in super::super) shelf: u32,
            pub(in super::super) id: u32,
            pub(in super::super) first: String,
            pub(in super::super) second: String,
        }
    }

    #[derive(Clone, Debug, PartialEq, table_core::Entity)]
    #[entity(table = "Heavy", crate = table_core)]
    #[partition_key(shelf)]
    #[row_key("item_", id)]
    #[index(Backwards, row_key("back_", desc(id)))]
    pub(super) struct Item {
        pub(super) shelf: u32,
        pub(super) id: u32,
        pub(super) first: String,
        pub(super) second: String,
    }
}

#[test]
fn egt_3_a_backfill_writes_as_many_bytes_as_fit_in_a_transaction() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let old = store.table::<heavy::before::Item>().create_if_missing().await?;
        // At two bytes per character, each copy takes 120 KB, so 34 copies fit in 4 MiB.
        let text = "x".repeat(30_000);
        for id in 0..50 {
            let item = heavy::before::Item { shelf: 1, id, first: text.clone(), second: text.clone() };
            old.insert(&item).await?;
        }
        let table = store.entities::<heavy::Item>().create_if_missing().await?;
        let (built, _, submits) =
            store.count(table.backfill::<heavy::ItemBackwards>().assume_no_older_programs().run()).await;
        assert_eq!((built?.repaired, submits), (50, NOTES + 2));
        assert!(table.check().run().await?.is_clean());
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests that sixteen transactions of a backfill run concurrently. They can then share the cost of a durable write.
#[test]
fn imp_5_transactions_of_a_backfill_run_concurrently() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let entities: Vec<_> = (0..40)
            .flat_map(|department| staff(department..department + 1, &format!("D{department}")))
            .collect();
        old_rows(&store, &entities).await?;
        let table = store.entities::<Staff>().create_if_missing().await?;
        for (name, at_once) in [("ByEmail", 16), ("ByLastName", 16)] {
            store.at_once.store(0, Ordering::Relaxed);
            match name {
                "ByEmail" => table.backfill::<StaffByEmail>().assume_no_older_programs().run().await?,
                _ => table.backfill::<StaffByLastName>().assume_no_older_programs().run().await?,
            };
            assert_eq!(store.at_once.load(Ordering::Relaxed), at_once, "{name}: a transaction a partition");
        }

        let store = Disturbed::new(Engine::in_memory());
        // Remote entries are settled per entity. Copies are settled concurrently, and the entries of one list sequentially.
        let table = store.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
        let employees: Vec<_> =
            (0..20).map(|id| Employee { id, email: id.to_string(), badge: Some(id), ..jones() }).collect();
        table.bulk().insert_all(&employees).await.unwrap();
        table.rebuild::<EmployeeByBadge>().await?;
        table.rebuild::<EmployeeNamesakes>().await?;
        store.at_once.store(0, Ordering::Relaxed);
        assert_eq!(table.backfill::<EmployeeByBadge>().assume_no_older_programs().run().await?.repaired, 20);
        assert_eq!(store.at_once.swap(0, Ordering::Relaxed), 16);
        assert_eq!(
            table.backfill::<EmployeeNamesakes>().assume_no_older_programs().run().await?.repaired,
            20
        );
        assert_eq!(store.at_once.load(Ordering::Relaxed), 1, "all of them have one list");
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests a transaction that is refused because one of its entities changes before it is written. Its entities must then be processed one by one.
#[test]
fn con_3_an_overtaken_backfill_transaction_is_retried_entity_by_entity() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let mut entities = staff(0..60, "Sales");
        old_rows(&store, &entities).await?;
        let table = store.entities::<Staff>().create_if_missing().await?;
        store.before_submit(|_| {}); // records that the pass has begun
        store.before_submit(|_| {}); // records that the rows are complete
        store.before_submit(|engine| {
            let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
            let moved = |staff: &mut Staff| staff.email = Some("elsewhere".to_owned());
            block_on(table.update(Staff::key("Sales", 7), moved)).unwrap();
            block_on(table.delete(Staff::key("Sales", 9), IfMatch::Any)).unwrap();
        });
        let (built, _, submits) =
            store.count(table.backfill::<StaffByEmail>().assume_no_older_programs().run()).await;
        assert_eq!(built?.repaired, 58, "one has its copy from the writer, one is gone");
        assert_eq!(
            submits,
            NOTES + 1 + 48 + 1,
            "fifty refused, of which 48 are made good, and the other ten"
        );
        entities[7].email = Some("elsewhere".to_owned());
        entities.remove(9);
        table.backfill::<StaffByAge>().assume_no_older_programs().run().await?;
        table.backfill::<StaffByLastName>().assume_no_older_programs().run().await?;
        assert_eq!(stored(&store, &["Company"]).await?, expected(&entities));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests two entities with the same value. The first one in key order must get the value, however the entities are grouped into transactions.
#[test]
fn pat_intra_5_the_first_entity_of_a_page_gets_the_value_and_others_are_named() {
    block_on(async {
        let engine = Engine::in_memory();
        let mut entities = staff(0..130, "Sales");
        for twin in [60, 3, 129] {
            entities[twin].email = Some("twin".to_owned());
        }
        old_rows(&engine, &entities).await?;
        let table = engine.entities::<Staff>().create_if_missing().await?;
        let error = table.backfill::<StaffByEmail>().assume_no_older_programs().run().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::UniqueViolation, Some("PAT-INTRA-5")));
        assert!(error.to_string().contains("empid_000060"), "{error}");
        let report = table.check().only::<StaffByEmail>().run().await?;
        let found: Vec<_> = report
            .findings
            .iter()
            .map(|found| (found.kind, found.owner.as_ref().map(|owner| owner.row_key.as_str())))
            .collect();
        let duplicate = |owner| (FindingKind::Duplicate, Some(owner));
        assert_eq!(found, [duplicate("empid_000060"), duplicate("empid_000129")]);
        for (id, email) in [(60, "sixty"), (129, "last")] {
            let email = Some(email.to_owned());
            entities[id as usize].email.clone_from(&email);
            table.update(Staff::key("Sales", id), |staff| staff.email.clone_from(&email)).await?;
        }
        table.backfill::<StaffByEmail>().assume_no_older_programs().run().await?;
        table.backfill::<StaffByAge>().assume_no_older_programs().run().await?;
        table.backfill::<StaffByLastName>().assume_no_older_programs().run().await?;
        assert_eq!(stored(&engine, &["Company"]).await?, expected(&entities));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn pat_ix_4_an_overlong_list_is_named_and_affects_no_other_entity() {
    block_on(async {
        let engine = Engine::in_memory();
        let mut entities = staff(0..20, "Sales");
        entities[19].last_name = "Name2".to_owned();
        old_rows(&engine, &entities).await?;
        let table = engine.entities::<Staff>().create_if_missing().await?;
        let error = table.backfill::<StaffByLastName>().assume_no_older_programs().run().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::IndexListFull, Some("PAT-IX-4")));
        assert!(error.to_string().contains("lastname_Name2"), "{error}");
        table.delete(Staff::key("Sales", 6), IfMatch::Any).await?;
        entities.remove(6);
        table.backfill::<StaffByLastName>().assume_no_older_programs().run().await?;
        table.backfill::<StaffByEmail>().assume_no_older_programs().run().await?;
        table.backfill::<StaffByAge>().assume_no_older_programs().run().await?;
        assert_eq!(stored(&engine, &["Company"]).await?, expected(&entities));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests that a burst writes at most as many entities as are allowed in one second, even if a page contains more.
#[test]
fn a_rate_bounds_the_writes_between_two_waits() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let entities = staff(0..25, "Sales");
        old_rows(&store, &entities).await?;
        let time = Arc::new(AtomicUsize::new(0));
        let waits = Arc::new(Mutex::new(Vec::new()));
        let (now, later, seen, written) =
            (Arc::clone(&time), Arc::clone(&time), Arc::clone(&waits), store.engine.clone());
        let pace = Runtime::new()
            .clock(Clock::new(move || u64::try_from(now.load(Ordering::Relaxed)).unwrap()))
            .sleep_by(move |wait| {
                later.fetch_add(usize::try_from(ticks_of(wait)).unwrap(), Ordering::Relaxed);
                let rows = block_on(stored(&written, &["Company"])).unwrap();
                let copies =
                    rows.keys().filter(|(_, key)| key.row_key.as_str().starts_with("email_")).count();
                seen.lock().unwrap().push((wait, copies));
                Box::pin(async {})
            });
        let table = store.entities::<Staff>().create_if_missing().await?.with_runtime(pace);
        table
            .backfill::<StaffByEmail>()
            .assume_no_older_programs()
            .per_second(NonZeroU32::new(10).unwrap())
            .run()
            .await?;
        let second = Duration::from_secs(1);
        assert_eq!(*waits.lock().unwrap(), [(second, 10), (second, 20), (second / 2, 25)]);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}
