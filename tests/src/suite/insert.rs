//! Test scenarios for inserts (INS rules).

use table_core::{ErrorCode, TableStore};

use super::scene::{Scene, a, is_a, refused, row};

pub async fn ins_1_insert_of_an_existing_key_conflicts_and_changes_nothing<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(1)).await.unwrap();
    let before = scene.read("p", "r").await;
    let error = refused(scene.insert("p", "r", a(2)).await, ErrorCode::EntityAlreadyExists);
    assert!(error.is_already_exists());
    assert_eq!(scene.read("p", "r").await, before);
}

pub async fn ins_2_an_inserted_entity_is_read_back<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let etag = scene.insert("p", "r", a(1)).await.unwrap();
    let stored = scene.read("p", "r").await.unwrap();
    assert_eq!((stored.properties, stored.etag), (is_a(1), etag));
}

pub async fn ent_1_keys_alone_make_an_entity<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", row([])).await.unwrap();
    assert!(scene.properties("p", "r").await.is_empty());
}

pub async fn ent_1_the_pair_of_keys_is_the_identity<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    // These pairs would be equal if they were concatenated without a separator.
    let pairs = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("c", "ab")];
    for (number, (partition, row_key)) in (0..).zip(pairs) {
        scene.insert(partition, row_key, a(number)).await.unwrap();
    }
    for (number, (partition, row_key)) in (0..).zip(pairs) {
        assert_eq!(scene.properties(partition, row_key).await, is_a(number));
    }
}
