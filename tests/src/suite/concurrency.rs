//! Test scenarios for concurrency. They test which states concurrent readers and writers may see (CON, EGT-9, EGT-13 rules).

use std::sync::atomic::{AtomicBool, Ordering};

use table_core::query::KeyRange;
use table_core::{ErrorCode, IfMatch, OperationKind, Query, TableStore, Value};

use super::scene::{Scene, a, is_a, refused};

pub async fn con_2_and_3_a_read_sees_every_acknowledged_write<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(0)).await.unwrap();
    for number in 1..50 {
        let etag = scene.replace("p", "r", a(number), IfMatch::Any).await.unwrap();
        let stored = scene.read("p", "r").await.unwrap();
        assert_eq!((stored.properties, stored.etag), (is_a(number), etag));
        assert_eq!(scene.matches("p", &format!("A eq {number}")).await, ["r"]);
    }
}

pub async fn con_5_exactly_one_of_two_writers_with_one_etag_succeeds<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(0)).await.unwrap();
    for _ in 0..20 {
        let etag = scene.read("p", "r").await.unwrap().etag;
        let write = |number: i32| {
            let (scene, etag) = (&scene, &etag);
            move || pollster::block_on(scene.replace("p", "r", a(number), etag))
        };
        let results = std::thread::scope(|threads| {
            let writers: Vec<_> = (0..4).map(|number| threads.spawn(write(number))).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for result in results.into_iter().filter(Result::is_err) {
            refused(result, ErrorCode::UpdateConditionNotSatisfied);
        }
    }
}

/// Tests that a read of an entity does not block a writer. If another writer commits first, the conditional write of the reader fails.
pub async fn con_6_reading_an_entity_blocks_no_writer<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(0)).await.unwrap();
    let first = scene.read("p", "r").await.unwrap();
    let second = scene.read("p", "r").await.unwrap();
    scene.replace("p", "r", a(2), second.etag).await.unwrap();
    scene.merge("p", "r", a(3), IfMatch::Any).await.unwrap();
    refused(scene.replace("p", "r", a(1), &first.etag).await, ErrorCode::UpdateConditionNotSatisfied);
    refused(scene.delete("p", "r", &first.etag).await, ErrorCode::UpdateConditionNotSatisfied);
    assert_eq!(scene.properties("p", "r").await, is_a(3));
}

pub async fn con_3_no_increment_is_lost<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(0)).await.unwrap();
    let increment = || {
        for _ in 0..25 {
            loop {
                let stored = pollster::block_on(scene.read("p", "r")).unwrap();
                let Some(Value::Int32(number)) = stored.properties.get("A") else { panic!("A is a number") };
                match pollster::block_on(scene.replace("p", "r", a(number + 1), stored.etag)) {
                    Ok(_) => break,
                    Err(error) => assert!(error.is_precondition_failed(), "{error}"),
                }
            }
        }
    };
    std::thread::scope(|threads| (0..4).for_each(|_| drop(threads.spawn(increment))));
    assert_eq!(scene.properties("p", "r").await, is_a(100));
}

/// Tests that a page is a snapshot of its partition (CON-8, ENG-15).
pub async fn con_7_and_egt_9_no_reader_sees_a_partial_transaction<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let keys: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let write = |number: i32| {
        let upserts = keys.iter().map(|key| (key.as_str(), OperationKind::InsertOrReplace(a(number))));
        pollster::block_on(scene.submit("p", upserts.collect())).unwrap();
    };
    write(0);
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                let query = Query::new(KeyRange::partition("p"));
                loop {
                    // The flag is loaded before the read, so the final state is read as well.
                    let last = done.load(Ordering::Acquire);
                    let page = pollster::block_on(scene.page(&query, None)).unwrap();
                    assert_eq!(page.keys.len(), 20);
                    let first = &page.properties[0];
                    assert!(page.properties.iter().all(|properties| properties == first), "CON-8");
                    if last {
                        break;
                    }
                }
            });
        }
        (1..60).for_each(write);
        done.store(true, Ordering::Release);
    });
}

pub async fn egt_13_exactly_one_of_overlapping_transactions_wins<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let insert_all = |number: i32| {
        let scene = &scene;
        move || {
            let own = format!("own{number}");
            let operations = vec![
                (own.as_str(), OperationKind::Insert(a(number))),
                ("shared", OperationKind::Insert(a(number))),
            ];
            pollster::block_on(scene.submit("p", operations))
        }
    };
    let results = std::thread::scope(|threads| {
        let writers: Vec<_> = (0..4).map(|number| threads.spawn(insert_all(number))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    let winner = results.iter().position(Result::is_ok).expect("one wins");
    for (number, result) in results.into_iter().enumerate().filter(|(number, _)| *number != winner) {
        let error = refused(result, ErrorCode::EntityAlreadyExists);
        assert_eq!(error.operation(), Some(1));
        assert_eq!(scene.read("p", &format!("own{number}")).await, None);
    }
    assert_eq!(scene.keys(&Query::new(KeyRange::ALL)).await.len(), 2);
}

pub async fn con_4_last_writer_wins_without_a_condition<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(0)).await.unwrap();
    scene.replace("p", "r", a(1), IfMatch::Any).await.unwrap();
    scene.insert_or_replace("p", "r", a(2)).await.unwrap();
    assert_eq!(scene.properties("p", "r").await, is_a(2));
}
