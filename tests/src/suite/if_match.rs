//! Test scenarios for `If-Match` conditions (IFM rules).

use table_core::etag::ETag;
use table_core::{ErrorCode, IfMatch, TableStore};

use super::scene::{Scene, a, refused, stale};

/// Tests that every write except an insert requires a version, and that `*` accepts any version (IMP-2).
pub async fn ifm_1_any_and_the_current_etag_are_accepted<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let mut etag = scene.insert("p", "r", a(0)).await.unwrap();
    etag = scene.replace("p", "r", a(1), etag).await.unwrap();
    etag = scene.merge("p", "r", a(2), etag).await.unwrap();
    scene.delete("p", "r", etag).await.unwrap();
    scene.insert("p", "r", a(0)).await.unwrap();
    scene.replace("p", "r", a(1), IfMatch::Any).await.unwrap();
    scene.merge("p", "r", a(2), IfMatch::Any).await.unwrap();
    scene.delete("p", "r", IfMatch::Any).await.unwrap();
}

pub async fn ifm_1_and_4_any_other_well_formed_etag_is_a_mismatch<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let current = scene.insert("p", "r", a(0)).await.unwrap();
    let others = ["W/\"bad\"", "W/\"\"", "W/\"datetime'2026-13-01T00%3A00%3A00Z'\""];
    for other in others.iter().map(|text| ETag::parse(text).unwrap()).chain([stale()]) {
        let mismatch = ErrorCode::UpdateConditionNotSatisfied;
        refused(scene.replace("p", "r", a(1), &other).await, mismatch);
        refused(scene.merge("p", "r", a(1), &other).await, mismatch);
        refused(scene.delete("p", "r", &other).await, mismatch);
    }
    assert_eq!(scene.read("p", "r").await.unwrap().etag, current);
}

pub async fn etag_4_an_etag_kept_as_text_is_still_accepted<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let current = scene.insert("p", "r", a(0)).await.unwrap();
    let kept = ETag::parse(&current.to_string()).unwrap();
    scene.replace("p", "r", a(1), kept).await.unwrap();
}
