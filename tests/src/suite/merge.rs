//! Test scenarios for merges (MRG rules).

use table_core::{ErrorCode, IfMatch, TableStore};

use super::scene::{Scene, a, is, is_a, refused, row, stale};

/// Tests that a merge writes only the given properties (IMP-1).
pub async fn mrg_1_merge_adds_and_replaces_and_keeps_the_rest<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let first = scene.insert("p", "r", row([("A", 1.into()), ("B", 2.into())])).await.unwrap();
    let second = scene.merge("p", "r", row([("B", "two".into()), ("C", 3.into())]), &first).await.unwrap();
    let stored = scene.read("p", "r").await.unwrap();
    assert_eq!(stored.properties, is([("A", 1.into()), ("B", "two".into()), ("C", 3.into())]));
    assert_eq!(stored.etag, second);
}

pub async fn mrg_2_merge_of_a_missing_entity_or_another_version_is_refused<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    refused(scene.merge("p", "r", a(1), IfMatch::Any).await, ErrorCode::ResourceNotFound);
    refused(scene.merge("p", "r", a(1), stale()).await, ErrorCode::ResourceNotFound);
    scene.insert("p", "r", a(1)).await.unwrap();
    let before = scene.read("p", "r").await;
    refused(scene.merge("p", "r", a(2), stale()).await, ErrorCode::UpdateConditionNotSatisfied);
    assert_eq!(scene.read("p", "r").await, before);
}

pub async fn mrg_3_a_merge_keeps_properties_that_it_does_not_name<S: TableStore>(store: &S) {
    // A null in a request means an absent property. A merge neither removes nor changes the stored property.
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(1)).await.unwrap();
    scene.merge("p", "r", row([]), IfMatch::Any).await.unwrap();
    assert_eq!(scene.properties("p", "r").await, is_a(1));
}

pub async fn mrg_4_an_empty_merge_gives_a_new_version<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let first = scene.insert("p", "r", a(1)).await.unwrap();
    let second = scene.merge("p", "r", row([]), &first).await.unwrap();
    assert_ne!(first, second);
    refused(scene.merge("p", "r", row([]), &first).await, ErrorCode::UpdateConditionNotSatisfied);
}

pub async fn prop_1_names_are_distinguished_by_case<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", row([("Age", 1.into())])).await.unwrap();
    scene.merge("p", "r", row([("age", 2.into())]), IfMatch::Any).await.unwrap();
    assert_eq!(scene.properties("p", "r").await, is([("Age", 1.into()), ("age", 2.into())]));
}
