//! Test scenarios for `ETag` and Timestamp (ETAG rules).

use table_core::{ErrorCode, IfMatch, OperationKind, TableStore};

use super::scene::{Scene, a, refused, row};

pub async fn etag_1_and_2_the_etag_is_the_timestamp_in_the_services_form<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let etag = scene.insert("p", "r", a(1)).await.unwrap();
    let ticks = scene.read("p", "r").await.unwrap().ticks;
    assert_eq!(etag.ticks(), Some(ticks));
    let text = etag.to_string();
    assert!(text.starts_with("W/\"datetime'2") && text.ends_with("Z'\""), "{text}");
}

pub async fn etag_5_6_and_con_10_every_write_of_an_entity_gives_a_later_etag<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let mut etags = vec![scene.insert("p", "r", a(1)).await.unwrap()];
    for _ in 0..5 {
        etags.push(scene.replace("p", "r", a(1), IfMatch::Any).await.unwrap());
        etags.push(scene.merge("p", "r", a(1), IfMatch::Any).await.unwrap());
        etags.push(scene.insert_or_merge("p", "r", row([])).await.unwrap());
        etags.push(scene.insert_or_replace("p", "r", a(1)).await.unwrap());
    }
    scene.delete("p", "r", IfMatch::Any).await.unwrap();
    etags.push(scene.insert("p", "r", a(1)).await.unwrap());
    let ticks: Vec<_> = etags.iter().map(|etag| etag.ticks().unwrap()).collect();
    assert!(ticks.is_sorted_by(|earlier, later| earlier < later), "{ticks:?}");
}

pub async fn etag_3_a_transaction_gives_an_etag_for_each_but_deletes<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill([("p", "1"), ("p", "2"), ("p", "3")]).await;
    let operations = vec![
        ("1", OperationKind::Delete(IfMatch::Any)),
        ("2", OperationKind::Merge(a(2), IfMatch::Any)),
        ("4", OperationKind::Insert(a(4))),
    ];
    let etags = scene.submit("p", operations).await.unwrap();
    let read = |stored: Option<super::scene::Stored>| stored.map(|stored| stored.etag);
    assert_eq!(etags, [None, read(scene.read("p", "2").await), read(scene.read("p", "4").await)]);
    assert!(etags.iter().skip(1).all(Option::is_some));
}

pub async fn etag_5_an_entity_that_is_not_written_keeps_its_version<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let first = scene.insert("p", "1", a(1)).await.unwrap();
    scene.insert("p", "2", a(2)).await.unwrap();
    scene.replace("p", "2", a(3), IfMatch::Any).await.unwrap();
    refused(scene.insert("p", "1", a(1)).await, ErrorCode::EntityAlreadyExists);
    assert_eq!(scene.read("p", "1").await.unwrap().etag, first);
}

pub async fn con_12_delete_and_insert_give_a_new_etag<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let first = scene.insert("p", "r", a(1)).await.unwrap();
    scene.delete("p", "r", &first).await.unwrap();
    let second = scene.insert("p", "r", a(1)).await.unwrap();
    assert_ne!(second, first);
    refused(scene.replace("p", "r", a(2), &first).await, ErrorCode::UpdateConditionNotSatisfied);
}
