//! Tests the rules for lists, PAT-IX-1 to PAT-IX-7. Each test runs with lists in entities, with lists in blobs, and with lists that move to blobs.

use std::sync::Arc;
use std::thread;

use pollster::block_on;
use table_advice::meter::Meter;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::limits::Limits;
use table_core::operation::OperationKind;
use table_core::{Entity, ErrorCode};

use super::disturbed::Disturbed;
use super::kit::{Records, expected, records, stored};
use super::people::{Employee, assert_lists, jones, model, person, recorded, scene, settle_all};
use crate::EntityStore;
use crate::index::ListBlobs;

const TABLES: [&str; 2] = ["Company", "LastNames"];

/// Numbers of keys above which a list is stored in a blob. Lists are therefore always in entities, always in blobs, or move to a blob as they grow.
const BEYOND: [usize; 3] = [usize::MAX, 0, 20];

#[test]
fn pat_ix_1_writers_and_workers_of_one_list_lose_no_member_at_any_location() {
    // An attempt fails only because another writer has succeeded. There are fewer such writes than permitted attempts, so no writer fails.
    const WRITERS: u32 = 8;
    const EACH: u32 = 6;
    for beyond in BEYOND {
        block_on(async {
            let scene = scene(beyond).await?;
            let people = &scene.people;
            thread::scope(|scope| {
                for writer in 0..WRITERS {
                    scope.spawn(move || {
                        for id in writer * EACH..(writer + 1) * EACH {
                            block_on(people.insert(&jones(id))).unwrap();
                        }
                    });
                }
            });
            // Each change is delivered to two workers, in opposite orders.
            let changes = recorded(people).await?;
            thread::scope(|scope| {
                for worker in 0..4 {
                    let mut mine: Vec<_> =
                        changes.iter().enumerate().filter(|(at, _)| at % 2 == worker / 2).collect();
                    if worker % 2 == 1 {
                        mine.reverse();
                    }
                    scope.spawn(move || {
                        for (_, change) in mine {
                            block_on(people.settle(change)).unwrap();
                        }
                    });
                }
            });
            let all: Vec<_> = (0..WRITERS * EACH).map(jones).collect();
            assert_lists(people, &model(&all), &["Jones"]).await?;
            // If a write is refused, its upload is removed, either immediately or by the collector.
            scene.collect_all().await?;
            assert_eq!(scene.blobs.names(), scene.named().await?);
            Ok::<(), table_core::Error>(())
        })
        .unwrap();
    }
}

#[test]
fn pat_ix_2_a_changed_name_writes_three_entities_by_etag_in_one_transaction() {
    for beyond in [usize::MAX, 0] {
        block_on(async {
            let scene = scene(beyond).await?;
            let people = &scene.people;
            for person in [jones(1), jones(2), person("Sales", 3, "Cao")] {
                people.insert(&person).await?;
            }
            let read = people.get(Employee::key("Sales", 1)).await?.unwrap();
            let (done, _, submits) =
                scene.store.count(people.update(&read, |now| now.last_name = "Cao".to_owned())).await;
            done?;
            assert_eq!(submits, 1);
            let last = scene.store.last.lock().unwrap().clone().unwrap();
            let conditions: Vec<_> = last
                .operations()
                .iter()
                .map(|operation| {
                    let has_etag = match &operation.kind {
                        OperationKind::Replace(_, condition) | OperationKind::Merge(_, condition) => {
                            matches!(condition, IfMatch::ETag(_))
                        }
                        _ => false,
                    };
                    (operation.row_key.as_str().to_owned(), has_etag)
                })
                .filter(|(row_key, _)| !row_key.starts_with('~'))
                .collect();
            let with_etag = |row_key: &str| (row_key.to_owned(), true);
            assert_eq!(conditions, ["empid_000001", "lastname_Cao", "lastname_Jones"].map(with_etag));
            settle_all(people).await?;
            let after = [person("Sales", 1, "Cao"), jones(2), person("Sales", 3, "Cao")];
            assert_lists(people, &model(&after), &["Jones", "Cao"]).await?;
            // Removals work in the same way: removing the last member removes the list.
            people.delete(Employee::key("Sales", 2), IfMatch::Any).await?;
            settle_all(people).await?;
            let company = stored(&scene.store.engine, &TABLES).await?;
            assert!(company.keys().all(|(_, key)| !key.to_string().contains("Jones")), "{company:?}");
            Ok::<(), table_core::Error>(())
        })
        .unwrap();
    }
}

#[test]
fn pat_ix_3_a_lookup_reads_the_list_its_blob_and_each_entity() {
    for (beyond, of_blob) in [(usize::MAX, 0), (0, 1)] {
        block_on(async {
            let scene = scene(beyond).await?;
            let people = &scene.people;
            for id in 0..5 {
                people.insert(&jones(id)).await?;
            }
            settle_all(people).await?;
            scene.blobs.heal();
            let (found, gets, _) =
                scene.store.count(people.get_by_index(Employee::by_last_name("Sales", "Jones"))).await;
            assert_eq!((found?.len(), gets, scene.blobs.calls()), (5, 1 + 5, of_blob));
            let (found, gets, _) = scene.store.count(people.keys_of(Employee::namesakes("Jones"))).await;
            assert_eq!((found?.len(), gets, scene.blobs.calls()), (5, 1, 2 * of_blob));
            let names = || Employee::namesakes("Jones");
            let page = people.get_page_by_index(names(), None, 2).await?;
            assert_eq!(page.entities.len(), 2);
            // One entity of the next page has another name by now, but the list was not updated. The page omits this entity.
            people.update(Employee::key("Sales", 2), |now| now.last_name = "Cao".to_owned()).await?;
            let (page, gets, _) =
                scene.store.count(people.get_page_by_index(names(), page.next.as_ref(), 2)).await;
            let page = page?;
            assert_eq!((page.entities.len(), page.entities[0].id, gets), (1, 3, 1 + 2));
            let page = people.get_page_by_index(names(), page.next.as_ref(), 2).await?;
            assert_eq!((page.entities.len(), page.next), (1, None));
            assert_eq!(people.get_by_index_eventual(names()).await?.len(), 4, "verified on read");
            let none = people.get_page_by_index(names(), None, 0).await.unwrap_err();
            assert_eq!(none.code(), ErrorCode::InvalidInput);
            assert!(
                people.get_page_by_index(Employee::namesakes("Nobody"), None, 9).await?.entities.is_empty()
            );
            Ok::<(), table_core::Error>(())
        })
        .unwrap();
    }
}

#[test]
fn pat_ix_5_partition_lists_cover_a_department_and_others_the_organisation() {
    for beyond in [usize::MAX, 0] {
        block_on(async {
            let scene = scene(beyond).await?;
            let all = [jones(152), person("Marketing", 7, "Jones"), person("Sales", 8, "Cao")];
            for person in &all {
                scene.people.insert(person).await?;
            }
            settle_all(&scene.people).await?;
            let within = scene.people.get_by_index(Employee::by_last_name("Sales", "Jones")).await?;
            assert_eq!(within.iter().map(|one| one.id).collect::<Vec<_>>(), [152]);
            let across = scene.people.get_by_index_eventual(Employee::namesakes("Jones")).await?;
            assert_eq!(across.iter().map(|one| one.id).collect::<Vec<_>>(), [7, 152]);
            Ok::<(), table_core::Error>(())
        })
        .unwrap();
    }
}

#[test]
fn pat_ix_6_a_writer_touches_its_partition_and_no_cross_partition_list_blob() {
    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Company", crate = table_core)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(ByLastName, at_most = 1000, row_key("lastname_", last_name))]
    struct Inside {
        department: String,
        id: u32,
        last_name: String,
    }
    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Company", crate = table_core)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(Namesakes, at_most = 1000, table = "LastNames", partition_key(last_name), row_key("all"))]
    struct Outside {
        department: String,
        id: u32,
        last_name: String,
    }
    let touched = |meter: &Meter<Engine>| {
        let reading = meter.take();
        reading
            .partitions()
            .map(|((table, partition), _)| (table.to_owned(), partition.to_owned()))
            .collect::<Vec<_>>()
    };
    let own = [("Company".to_owned(), "Sales".to_owned())];
    block_on(async {
        // Option 2: all writes go to one partition, whose throughput is therefore the limit.
        let meter = Meter::new(Engine::in_memory());
        let inside = meter.entities::<Inside>().create_if_missing().await?;
        meter.take();
        for id in 0..3 {
            inside.insert(&Inside { department: "Sales".into(), id, last_name: "Jones".into() }).await?;
        }
        inside.delete(Inside::key("Sales", 0), IfMatch::Any).await?;
        assert_eq!(touched(&meter), own);

        // Options 1 and 3: the writer records the change in its partition, and a worker writes the list.
        for beyond in [usize::MAX, 0] {
            let meter = Meter::new(Engine::in_memory());
            let blobs = crate::tests::faults::FaultyBlobs::default();
            let lists = ListBlobs::new(Arc::new(blobs.clone()), "x").spill_above(beyond);
            let outside = meter.entities_with_outbox::<Outside, _>(Records::default()).with_list_blobs(lists);
            let outside = outside.create_if_missing().await?;
            meter.take();
            for id in 0..3 {
                outside
                    .insert(&Outside { department: "Sales".into(), id, last_name: "Jones".into() })
                    .await?;
            }
            let reading = meter.reading();
            assert_eq!(reading.requests, 3, "one transaction each: the entity and its record");
            assert_eq!((touched(&meter), blobs.calls()), (own.to_vec(), 0));
            let changes = records::<Outside, _>(meter.unmetered(), "Sales").await?;
            assert_eq!(changes.len(), 3);
            for (_, changes) in changes {
                outside.settle(&changes[0]).await?;
            }
            assert!(touched(&meter).contains(&("LastNames".to_owned(), "Jones".to_owned())));
            assert_eq!(blobs.calls() > 0, beyond == 0);
        }
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Returns values that are not valid in keys, and values that differ only in case, which some stores ignore.
fn hostile() -> Vec<String> {
    let texts = [
        "jones",
        "Jones",
        "JONES",
        "",
        " ",
        "Jones ",
        "O'Neil/Ab\\c#d?e",
        "a\tb\u{1}",
        "..",
        "%2F",
        "=2E",
        "İi\u{1F600}",
    ];
    let long = ["x".repeat(400), "X".repeat(400), "é".repeat(100), format!("{}y", "x".repeat(399))];
    texts.into_iter().map(str::to_owned).chain(long).collect()
}

#[test]
fn pat_ix_7_every_value_has_its_own_list() {
    let folder = tempfile::tempdir().unwrap();
    let local = Arc::new(object_store::local::LocalFileSystem::new_with_prefix(folder.path()).unwrap());
    for blobs in [None, Some(ListBlobs::new(local, "a/b").spill_above(0))] {
        block_on(async {
            let engine = Engine::in_memory();
            let mut people = engine.entities_with_outbox::<Employee, _>(Records::default());
            if let Some(blobs) = blobs {
                people = people.with_list_blobs(blobs);
            }
            let people = people.create_if_missing().await?;
            let all: Vec<_> = (0..).zip(hostile()).map(|(id, name)| person("Sales", id, &name)).collect();
            for person in &all {
                people.insert(person).await?;
            }
            settle_all(&people).await?;
            let names = hostile();
            assert_lists(&people, &model(&all), &names.iter().map(String::as_str).collect::<Vec<_>>())
                .await?;
            // A key that is too long is refused, and nothing is written.
            let error = people.insert(&person("Sales", 99, &"x".repeat(600))).await.unwrap_err();
            assert_eq!((error.code(), error.rule()), (ErrorCode::KeyEncoding, Some("KEY-7")));
            assert!(people.get(Employee::key("Sales", 99)).await?.is_none());
            Ok::<(), table_core::Error>(())
        })
        .unwrap();
    }
}

#[test]
fn pat_ix_the_layout_of_the_three_options() {
    block_on(async {
        let scene = scene(0).await?;
        for person in [jones(223), jones(152), person("Marketing", 7, "Jones")] {
            scene.people.insert(&person).await?;
        }
        settle_all(&scene.people).await?;
        scene.collect_all().await?;
        let engine = &scene.store.engine;
        let line = |((table, key), row): (&(String, EntityKey), &String)| {
            format!("{table:9} {:9} {:14} {row}", key.partition_key.as_str(), key.row_key.as_str())
        };
        let mut shown: Vec<_> = stored(engine, &TABLES).await?.iter().map(line).collect();
        for name in scene.blobs.names() {
            let content = String::from_utf8(scene.blobs.content(&name)).unwrap();
            shown.push(format!("\n{name}\n{}", content.trim_end()));
        }
        shown.push(String::new());
        // The lists of options 2 and 3, without blobs.
        let entities = [jones(223), jones(152), person("Marketing", 7, "Jones")];
        let without = expected(&entities);
        let lists = without.iter().filter(|(_, row)| row.contains("IDs") || row.contains("Details"));
        shown.extend(lists.map(line));
        let random = |text: String, name: &String| text.replace(&name[name.len() - 32..], "…");
        let shown = scene.blobs.names().iter().fold(shown.join("\n"), random);
        insta::assert_snapshot!(shown);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn pat_intra_8_a_bulk_load_with_large_lists_takes_several_transactions() {
    const NAMES: [&str; 5] = ["Abe", "Bea", "Cid", "Dan", "Eve"];
    block_on(async {
        let mut limits = Limits::PORTABLE;
        limits.transaction_bytes = 6_000;
        let store = Disturbed::new(Engine::builder().limits(limits).in_memory());
        let people =
            store.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
        let (mut all, mut taken) = (Vec::new(), Vec::new());
        // At the end, the lists contain 500 keys of 12 characters. Each change writes an entire list.
        for hundred in 0..5 {
            let new: Vec<_> =
                (0..100).map(|id| person("Sales", hundred * 100 + id, NAMES[(id % 5) as usize])).collect();
            let (written, _, submits) = store.count(people.bulk().insert_all(&new)).await;
            assert_eq!(written.map_err(|error| error.source)?.len(), 100);
            taken.push(submits);
            all.extend(new);
        }
        assert!(taken[0] < taken[4], "{taken:?} transactions of at most 6,000 bytes");
        settle_all(&people).await?;
        assert_lists(&people, &model(&all), &NAMES).await
    })
    .unwrap();
}
