//! Test scenarios for deletes (DEL rules).

use table_core::query::KeyRange;
use table_core::{ErrorCode, IfMatch, Query, TableStore};

use super::scene::{Scene, a, refused, row_keys, stale};

pub async fn del_2_a_delete_removes_and_the_next_one_is_not_found<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let etag = scene.insert("p", "r", a(1)).await.unwrap();
    scene.delete("p", "r", &etag).await.unwrap();
    refused(scene.delete("p", "r", IfMatch::Any).await, ErrorCode::ResourceNotFound);
}

pub async fn del_2_delete_of_another_version_is_refused_and_changes_nothing<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(1)).await.unwrap();
    let before = scene.read("p", "r").await;
    refused(scene.delete("p", "r", stale()).await, ErrorCode::UpdateConditionNotSatisfied);
    assert_eq!(scene.read("p", "r").await, before);
}

pub async fn del_3_existence_is_tested_before_the_etag<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    refused(scene.delete("p", "r", stale()).await, ErrorCode::ResourceNotFound);
}

pub async fn del_4_a_deleted_entity_is_unreachable_at_once<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill([("p", "1"), ("p", "2"), ("p", "3")]).await;
    scene.delete("p", "2", IfMatch::Any).await.unwrap();
    assert_eq!(scene.read("p", "2").await, None);
    assert_eq!(row_keys(&scene.keys(&Query::new(KeyRange::partition("p"))).await), ["1", "3"]);
    scene.insert("p", "2", a(2)).await.unwrap();
}
