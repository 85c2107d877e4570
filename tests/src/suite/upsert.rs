//! Test scenarios for insert-or-replace and insert-or-merge (UPS rules).

use table_core::{ErrorCode, IfMatch, TableStore};

use super::scene::{Scene, a, is, is_a, refused, row};

/// Tests that an insert-or-replace creates a missing entity and replaces an existing one (IMP-1).
pub async fn ups_1_and_2_insert_or_replace_does_either<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let first = scene.insert_or_replace("p", "r", row([("A", 1.into()), ("B", 2.into())])).await.unwrap();
    assert_eq!(scene.properties("p", "r").await.len(), 2);
    let second = scene.insert_or_replace("p", "r", a(3)).await.unwrap();
    assert_ne!(first, second);
    assert_eq!(scene.properties("p", "r").await, is_a(3));
}

pub async fn ups_2_and_3_insert_or_merge_does_either<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let first = scene.insert_or_merge("p", "r", row([("A", 1.into()), ("B", 2.into())])).await.unwrap();
    let second = scene.insert_or_merge("p", "r", a(3)).await.unwrap();
    assert_ne!(first, second);
    assert_eq!(scene.properties("p", "r").await, is([("A", 3.into()), ("B", 2.into())]));
}

pub async fn ups_4_if_match_any_is_not_an_upsert<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    refused(scene.replace("p", "r", a(1), IfMatch::Any).await, ErrorCode::ResourceNotFound);
    refused(scene.merge("p", "r", a(1), IfMatch::Any).await, ErrorCode::ResourceNotFound);
}

pub async fn ups_6_an_upsert_overwrites_any_version<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let first = scene.insert("p", "r", a(1)).await.unwrap();
    scene.replace("p", "r", a(2), &first).await.unwrap();
    let etag = scene.insert_or_replace("p", "r", a(3)).await.unwrap();
    assert_eq!(scene.read("p", "r").await.unwrap().etag, etag);
}
