//! Test scenarios for `$top` (TOP rules).

use table_core::query::{KeyRange, Query};
use table_core::{ErrorCode, TableStore};

use super::scene::Scene;

fn partition(top: usize) -> Query {
    Query { top: Some(top), ..Query::new(KeyRange::partition("p")) }
}

pub async fn top_1_and_4_top_is_the_size_of_a_page_not_of_the_answer<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 7).await;
    let page = scene.page(&partition(3), None).await.unwrap();
    assert!(page.keys.len() <= 3 && page.next.is_some());
    assert_eq!(scene.keys(&partition(3)).await.len(), 7);
}

pub async fn top_2_more_than_a_thousand_is_refused<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    assert!(scene.page(&partition(1_000), None).await.is_ok());
    refused_top(&scene, 1_001).await;
    refused_top(&scene, usize::MAX).await;
}

async fn refused_top<S: TableStore>(scene: &Scene<'_, S>, top: usize) {
    super::scene::refused(scene.page(&partition(top), None).await, ErrorCode::InvalidInput);
}

pub async fn top_3_and_eng_5_zero_gives_an_empty_page_without_continuation<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 3).await;
    let page = scene.page(&partition(0), None).await.unwrap();
    assert!(page.keys.is_empty() && page.next.is_none());
}
