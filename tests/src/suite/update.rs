//! Test scenarios for replacing entities (UPD rules).

use table_core::{ErrorCode, IfMatch, TableStore};

use super::scene::{Scene, a, is, is_a, refused, row, stale};

/// Tests that an update replaces the stored entity (IMP-1).
pub async fn upd_1_and_4_replace_removes_omitted_properties<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let first = scene.insert("p", "r", row([("A", 1.into()), ("B", 2.into())])).await.unwrap();
    let second = scene.replace("p", "r", row([("B", 3.into()), ("C", 4.into())]), &first).await.unwrap();
    assert_ne!(first, second);
    let stored = scene.read("p", "r").await.unwrap();
    assert_eq!(stored.properties, is([("B", 3.into()), ("C", 4.into())]));
    assert_eq!(stored.etag, second);
}

pub async fn upd_2_replace_of_a_missing_entity_is_not_found<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    refused(scene.replace("p", "r", a(1), IfMatch::Any).await, ErrorCode::ResourceNotFound);
    refused(scene.replace("p", "r", a(1), stale()).await, ErrorCode::ResourceNotFound);
    assert_eq!(scene.read("p", "r").await, None);
}

pub async fn upd_3_replace_of_another_version_is_refused_and_changes_nothing<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let first = scene.insert("p", "r", a(1)).await.unwrap();
    scene.replace("p", "r", a(2), &first).await.unwrap();
    let before = scene.read("p", "r").await;
    let error = refused(scene.replace("p", "r", a(3), &first).await, ErrorCode::UpdateConditionNotSatisfied);
    assert!(error.is_precondition_failed());
    assert_eq!(scene.read("p", "r").await, before);
}

pub async fn type_12_a_write_may_change_the_type_of_a_property<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(1)).await.unwrap();
    scene.replace("p", "r", a("text"), IfMatch::Any).await.unwrap();
    assert_eq!(scene.properties("p", "r").await, is_a("text"));
    scene.merge("p", "r", a(true), IfMatch::Any).await.unwrap();
    assert_eq!(scene.properties("p", "r").await, is_a(true));
}
