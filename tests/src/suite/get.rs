//! Test scenarios for reading one entity (GET rules).

use table_core::TableStore;
use table_core::query::Select;

use super::scene::{Scene, a, is, row};

pub async fn get_2_a_missing_entity_is_none<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    assert_eq!(scene.read("p", "r").await, None);
    scene.insert("p", "r", a(1)).await.unwrap();
    for (partition, row_key) in [("p", ""), ("", "r"), ("p", "r2"), ("P", "r"), ("p", "R"), ("r", "p")] {
        assert_eq!(scene.read(partition, row_key).await, None, "{partition} {row_key}");
    }
}

pub async fn get_1_an_entity_comes_with_its_etag_and_timestamp<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let etag = scene.insert("p", "r", a(1)).await.unwrap();
    let stored = scene.read("p", "r").await.unwrap();
    assert_eq!(stored.etag, etag);
    assert!(stored.ticks > table_core::ticks::UNIX_EPOCH);
}

pub async fn req_8_select_works_on_a_point<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", row([("A", 1.into()), ("B", 2.into())])).await.unwrap();
    let whole = scene.read("p", "r").await.unwrap();
    let part = scene.try_read("p", "r", &Select::names(["B", "C"])).await.unwrap().unwrap();
    assert_eq!(part.properties, is([("B", 2.into())]));
    assert_eq!((part.etag, part.ticks), (whole.etag, whole.ticks));
}
