//! Tests lists in blobs: their moves between entities and blobs, concurrent readers and writers, and the blobs that a collection leaves.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use object_store::ObjectStoreExt;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::runtime::ticks_of;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::transaction::Transaction;
use table_core::{Entity, ErrorCode, Result, TableEntity};

use super::kit::Records;
use super::people::{
    Employee, EmployeeByLastName, assert_lists, jones, model, person, recorded, scene, settle_all,
};
use crate::EntityStore;
use crate::index::list::ListForm;
use crate::index::{IndexState, ListBlobs};

const EMPTY: &[&str] = &[];

#[test]
fn pat_ix_4_a_list_too_large_for_an_entity_moves_to_a_blob_or_fails() {
    block_on(async {
        let scene = scene(usize::MAX).await?;
        // The largest number of keys that fit into an entity, with a tolerance of 40.
        let form = ListForm::new(Employee::SCHEMA, &Employee::SCHEMA.indexes[0]);
        let members = |count: u32| (0..count).map(|id| vec![format!("{id:06}")]).collect();
        let limits = scene.store.engine.capabilities().limits;
        let key = EntityKey::new("Sales", "lastname_Jones")?;
        let mut full = 58_160;
        while form.write_parts(&key, &members(full + 40), &limits).is_ok() {
            full += 40;
        }
        let list = OperationKind::Insert(form.write_parts(&key, &members(full), &limits)?);
        let mut seed = Transaction::new(key.partition_key.clone(), limits)?;
        seed.push(Operation { row_key: key.row_key.clone(), kind: list })?;
        scene.store.engine.submit(&TableName::new("Company")?, seed).await?;

        // A table without a blob store has no room for 40 more keys, and writes none of them.
        let without = scene
            .store
            .engine
            .entities_with_outbox::<Employee, _>(Records::default())
            .create_if_missing()
            .await?;
        let mut transaction = without.unit(Employee::partition("Sales"))?;
        for id in 60_000..60_040 {
            transaction.insert(&jones(id))?;
        }
        let error = transaction.commit().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::IndexListFull, Some("PAT-IX-4")));
        assert!(error.to_string().contains("with_list_blobs"), "{error}");
        assert!(without.get(Employee::key("Sales", 60_000)).await?.is_none());

        // With a blob store, the list moves to a blob in the first write that would make the entity too large.
        let mut transaction = scene.people.unit(Employee::partition("Sales"))?;
        for id in 60_000..60_040 {
            transaction.insert(&jones(id))?;
        }
        transaction.commit().await?;
        let keys = scene.people.keys_of(Employee::by_last_name("Sales", "Jones")).await?;
        assert_eq!(keys.len(), full as usize + 40);
        assert_eq!(scene.blobs.names(), scene.named().await?);
        assert_eq!(scene.blobs.names().len(), 1);

        // A handle without a blob store returns an error, and writes nothing.
        for error in [
            without.keys_of(Employee::by_last_name("Sales", "Jones")).await.map(drop).unwrap_err(),
            without.insert(&jones(70_000)).await.map(drop).unwrap_err(),
        ] {
            assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-IX-4")));
            assert!(error.to_string().contains("with_list_blobs"), "{error}");
        }
        assert!(without.get(Employee::key("Sales", 70_000)).await?.is_none());
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests a backfill that cannot read a blob. It must not make the index ready, even if another tool has deleted all members of the list.
#[test]
fn a_backfill_without_blobs_leaves_the_index_building() {
    for is_deleted in [false, true] {
        block_on(async {
            let scene = scene(0).await?;
            scene.people.insert(&jones(1)).await?;
            scene.people.rebuild::<EmployeeByLastName>().await?;
            let engine = &scene.store.engine;
            if is_deleted {
                let EntityKey { partition_key, row_key } = jones(1).key_of()?;
                let mut delete = Transaction::new(partition_key, engine.capabilities().limits)?;
                delete.push(Operation { row_key, kind: OperationKind::Delete(IfMatch::Any) })?;
                engine.submit(&TableName::new(Employee::SCHEMA.table)?, delete).await?;
            }
            let without = engine.entities_with_outbox::<Employee, _>(Records::default());
            let without = without.create_if_missing().await?;
            for page in [1, 1_000] {
                let backfill = without.backfill::<EmployeeByLastName>().assume_no_older_programs().page(page);
                let error = backfill.run().await.unwrap_err();
                assert_eq!(error.rule(), Some("PAT-IX-4"), "{error}");
                assert!(error.to_string().contains("with_list_blobs"), "{error}");
                assert_eq!(without.states().await?[0], ("ByLastName", IndexState::Building));
            }
            scene.people.backfill::<EmployeeByLastName>().assume_no_older_programs().run().await?;
            let keys = scene.people.keys_of(Employee::by_last_name("Sales", "Jones")).await?;
            assert_eq!(keys.len(), usize::from(!is_deleted));
            assert_eq!(without.states().await?[0], ("ByLastName", IndexState::Ready));
            Ok::<(), table_core::Error>(())
        })
        .unwrap();
    }
}

#[test]
fn pat_ix_4_a_list_stays_in_its_blob_until_it_is_empty() {
    block_on(async {
        let scene = scene(2).await?;
        let people = &scene.people;
        let mut now = Vec::new();
        for id in 0..4 {
            people.insert(&jones(id)).await?;
            settle_all(people).await?;
            now.push(jones(id));
            assert_lists(people, &model(&now), &["Jones"]).await?;
            assert_eq!(
                scene.named().await?.len(),
                if id < 2 { 0 } else { 2 },
                "one in the partition, one elsewhere"
            );
        }
        while let Some(gone) = now.pop() {
            people.delete(Employee::key("Sales", gone.id), IfMatch::Any).await?;
            settle_all(people).await?;
            assert_lists(people, &model(&now), &["Jones"]).await?;
            assert_eq!(scene.named().await?.len(), if now.is_empty() { 0 } else { 2 });
        }
        people.insert(&jones(9)).await?;
        assert_eq!(scene.named().await?.len(), 0, "a new list begins in an entity");
        scene.collect_all().await?;
        assert_eq!(scene.blobs.names(), EMPTY);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn pat_ix_4_the_declared_bound_holds_in_blobs_too() {
    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Few", crate = table_core)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(ByLastName, at_most = 2, row_key("lastname_", last_name))]
    struct Few {
        department: String,
        id: u32,
        last_name: String,
    }
    block_on(async {
        let blobs = crate::tests::faults::FaultyBlobs::default();
        let lists = ListBlobs::new(Arc::new(blobs.clone()), "x").spill_above(0);
        let few = Engine::in_memory().entities::<Few>().with_list_blobs(lists).create_if_missing().await?;
        let jones = |id| Few { department: "Sales".to_owned(), id, last_name: "Jones".to_owned() };
        few.insert(&jones(1)).await?;
        few.insert(&jones(2)).await?;
        let names = blobs.names();
        let error = few.insert(&jones(3)).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::IndexListFull, Some("PAT-IX-4")));
        assert_eq!(blobs.names(), names, "nothing was uploaded for nothing");
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn a_missing_or_damaged_list_blob_is_a_typed_error_until_a_repair() {
    let damages: [(Option<&'static [u8]>, ErrorCode); 2] =
        [(None, ErrorCode::BlobNotFound), (Some(b"tables list 1\n"), ErrorCode::Corrupted)];
    for (content, code) in damages {
        block_on(async {
            let scene = scene(0).await?;
            let people = &scene.people;
            let all: Vec<_> = (0..4).map(jones).collect();
            for person in &all {
                people.insert(person).await?;
            }
            settle_all(people).await?;
            for name in scene.named().await? {
                scene.blobs.damage(&name, content);
            }
            for answer in [
                people.get_by_index(Employee::by_last_name("Sales", "Jones")).await.map(drop),
                people.get_by_index_eventual(Employee::namesakes("Jones")).await.map(drop),
                people.insert(&jones(9)).await.map(drop),
            ] {
                assert_eq!(answer.unwrap_err().code(), code);
            }
            assert!(people.get(Employee::key("Sales", 9)).await?.is_none());
            assert!(!people.check().run().await?.is_clean());
            people.check().repair().run().await?;
            assert_lists(people, &model(&all), &["Jones"]).await
        })
        .unwrap();
    }
}

/// Tests a list to whose entity another program has written the address of another list's blob. Each other list is used in turn. The blob store must receive no
/// request.
#[test]
fn pat_large_2_a_list_that_names_the_blob_of_another_list_is_unreadable_until_a_repair() {
    block_on(async {
        let scene = scene(0).await?;
        let people = &scene.people;
        let all = [jones(1), person("Sales", 2, "Cao"), person("Marketing", 3, "Jones")];
        for person in &all {
            people.insert(person).await?;
        }
        settle_all(people).await?;
        let mut addresses = Vec::new();
        for table in ["Company", "LastNames"] {
            let rows = scene.store.engine.untyped(table)?.scan("addresses in every row").max_rows(1_000);
            for row in rows.collect().await? {
                let blobs = row.iter().filter(|(name, _)| name.ends_with("Blob"));
                addresses
                    .extend(blobs.map(|(name, value)| (row.key().clone(), name.to_owned(), value.clone())));
            }
        }
        let own = EntityKey::new("Sales", "lastname_Jones")?;
        let name = addresses.iter().find(|(key, ..)| *key == own).map(|(_, name, _)| name.clone()).unwrap();
        let others: Vec<_> = addresses.into_iter().filter(|(key, ..)| *key != own).collect();
        assert_eq!(others.len(), 4);
        for (key, _, address) in others {
            let row = TableEntity::new("Sales", "lastname_Jones")?.with(name.as_str(), address);
            scene.store.engine.untyped("Company")?.insert_or_replace(&row).await?;
            scene.blobs.heal();
            for answer in [
                people.get_by_index(Employee::by_last_name("Sales", "Jones")).await.map(drop),
                people.insert(&jones(9)).await.map(drop),
            ] {
                assert_eq!(answer.unwrap_err().code(), ErrorCode::EntityMismatch, "{key}");
            }
            assert_eq!(scene.blobs.calls(), 0, "{key}");
            assert!(!people.check().run().await?.is_clean());
            people.check().repair().run().await?;
            assert_lists(people, &model(&all), &["Jones", "Cao"]).await?;
        }
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn a_reader_overtaken_by_a_change_and_a_collection_starts_again() {
    block_on(async {
        let scene = scene(0).await?;
        let people = &scene.people;
        people.insert(&jones(1)).await?;
        let other = scene.other(0).await?;
        let old = scene.blobs.names();
        // This hook runs between the read of the entity and the read of its blob.
        scene.blobs.before_next(move |blobs| {
            block_on(other.insert(&jones(2))).unwrap();
            block_on(blobs.delete(&object_store::path::Path::parse(&old[0]).unwrap())).unwrap();
        });
        assert_eq!(people.keys_of(Employee::by_last_name("Sales", "Jones")).await?.len(), 2);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn a_writer_slower_than_half_the_grace_period_gives_up() {
    block_on(async {
        let scene = scene(0).await?;
        let now = Arc::clone(&scene.now);
        scene.blobs.before_next(move |_| {
            now.fetch_add(24_000_000_000, Ordering::SeqCst);
        });
        let error = scene.people.insert(&jones(1)).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-LARGE-2")));
        assert!(scene.people.get(Employee::key("Sales", 1)).await?.is_none());
        assert_eq!(scene.blobs.names(), EMPTY);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn orphans_are_kept_for_the_grace_period_and_named_blobs_forever() {
    block_on(async {
        let scene = scene(0).await?;
        let people = &scene.people;
        let long = "X".repeat(300);
        let all = [jones(1), person("Sales", 2, &long), person("Sales", 3, &long)];
        for person in &all {
            people.insert(person).await?;
        }
        // The partition has two lists, one of which was changed once.
        assert_eq!(scene.blobs.names().len(), 3);
        let young = people.collect_orphaned_lists().await?;
        assert_eq!((young.kept, young.marked, young.removed), (3, 0, 0));
        scene.wait();
        let marked = people.collect_orphaned_lists().await?;
        assert_eq!((marked.kept, marked.marked, marked.removed), (2, 1, 0));
        scene.wait();
        let removed = people.collect_orphaned_lists().await?;
        assert_eq!((removed.kept, removed.marked, removed.removed), (2, 0, 1));
        assert_eq!(scene.blobs.names(), scene.named().await?);
        let table = Engine::in_memory().entities_with_outbox::<Employee, _>(Records::default());
        assert_eq!(table.collect_orphaned_lists().await.unwrap_err().code(), ErrorCode::InvalidInput);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn an_orphan_is_kept_for_the_grace_period_of_its_writer() {
    block_on(async {
        let scene = scene(0).await?;
        let minute = Duration::from_secs(60);
        let lists = ListBlobs::new(Arc::new(scene.blobs.clone()), "indexes").grace(minute);
        let collector = scene.people.clone().with_list_blobs(lists);
        let pass = |minutes| scene.now.fetch_add(minutes * ticks_of(minute), Ordering::SeqCst);
        for id in [1, 2] {
            scene.people.insert(&jones(id)).await?;
        }
        // The writer's grace period is an hour.
        for (minutes, kept, marked, removed) in [(59, 2, 0, 0), (1, 1, 1, 0), (59, 1, 1, 0), (1, 1, 0, 1)] {
            pass(minutes);
            let collected = collector.collect_orphaned_lists().await?;
            assert_eq!((collected.kept, collected.marked, collected.removed), (kept, marked, removed));
        }
        assert_eq!(scene.blobs.names(), scene.named().await?);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn futures_of_lists_are_send() -> Result<()> {
    block_on(async {
        let scene = scene(0).await?;
        let people = &scene.people;
        crate::tests::faults::sendable(people.insert(&jones(1))).await?;
        crate::tests::faults::sendable(people.get_page_by_index(Employee::namesakes("Jones"), None, 3))
            .await?;
        crate::tests::faults::sendable(people.collect_orphaned_lists()).await?;
        for change in recorded(people).await? {
            crate::tests::faults::sendable(people.settle(&change)).await?;
        }
        crate::tests::faults::sendable(people.check().repair().run()).await.map(drop)
    })
}
