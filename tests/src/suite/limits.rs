//! Test scenarios for keys, names, values and entities at and above their limits (KEY-7, ENT-2, PROP-2, TYPE-10, SIZE rules).

use table_core::limits::Limits;
use table_core::row::RowWriter;
use table_core::{ErrorCode, IfMatch, Row, TableStore, ValueRef};

use super::scene::{Scene, a, refused, row};

/// Returns `true` if the store has the portable limits. The length of keys and the unit of transaction sizes differ between backends, so they are ignored.
fn portable<S: TableStore>(store: &S) -> bool {
    let mut limits = store.capabilities().limits;
    (limits.key_units, limits.measure) = (Limits::PORTABLE.key_units, Limits::PORTABLE.measure);
    limits == Limits::PORTABLE
}

fn many(count: usize) -> Row {
    let mut writer = RowWriter::with_capacity(count);
    for number in 0..count {
        writer.property(&format!("P{number}"), ValueRef::Int32(1));
    }
    writer.finish()
}

pub async fn key_7_and_8_keys_are_limited_in_utf16_code_units<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let most = store.capabilities().limits.key_units;
    for (character, units) in [("k", 1), ("é", 1), ("\u{1F600}", 2)] {
        let key = character.repeat(most / units);
        scene.insert(&key, &key, a(1)).await.unwrap();
        assert!(scene.read(&key, &key).await.is_some());
    }
    let long = "k".repeat(most + 1);
    refused(scene.insert("p", &long, a(1)).await, ErrorCode::PropertyValueTooLarge);
    refused(scene.insert(&long, "r", a(1)).await, ErrorCode::PropertyValueTooLarge);
    refused(scene.insert_or_merge("p", &long, a(1)).await, ErrorCode::PropertyValueTooLarge);
}

pub async fn key_9_a_point_read_with_an_overlong_key_finds_nothing<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let long = "k".repeat(store.capabilities().limits.key_units + 1);
    if long.len() <= 1_024 {
        assert_eq!(scene.read("p", &long).await, None);
        assert_eq!(scene.read(&long, "r").await, None);
    }
}

pub async fn ent_2_an_entity_has_at_most_252_properties<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    if portable(store) {
        scene.insert("p", "r", many(252)).await.unwrap();
        assert_eq!(scene.properties("p", "r").await.len(), 252);
        refused(scene.insert("p", "r2", many(253)).await, ErrorCode::TooManyProperties);
    }
}

pub async fn prop_2_names_have_at_most_255_code_units<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "1", row([("n".repeat(255).as_str(), 1.into())])).await.unwrap();
    let long = row([("n".repeat(256).as_str(), 1.into())]);
    refused(scene.insert("p", "2", long).await, ErrorCode::PropertyNameTooLong);
}

pub async fn type_10_and_11_values_at_their_limits<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    if !portable(store) {
        return;
    }
    let accepted = ["x".repeat(32_768), "é".repeat(32_768), "\u{1F600}".repeat(16_384)];
    for (number, text) in accepted.iter().enumerate() {
        scene.insert("p", &number.to_string(), a(text.as_str())).await.unwrap();
    }
    scene.insert("p", "binary", a(vec![0_u8; 65_536])).await.unwrap();
    for text in accepted {
        refused(scene.insert("p", "r", a(text + "x")).await, ErrorCode::PropertyValueTooLarge);
    }
    refused(scene.insert("p", "r", a(vec![0_u8; 65_537])).await, ErrorCode::PropertyValueTooLarge);
}

/// Returns a row for an entity with the keys `p` and `r`. By the published formula, this entity has a size of exactly `bytes` bytes.
fn sized(prefix: &str, bytes: usize) -> Row {
    let mut writer = RowWriter::new();
    let mut left = bytes - 4 - 2 * 2;
    for number in 0.. {
        let name = format!("{prefix}{number:02}");
        let overhead = 8 + 2 * name.len() + 4;
        // Room for one more property must remain, because its value cannot have a negative length.
        let value = (left - overhead).min(60_000);
        let value = if left - overhead - value > 0 { value - 100 } else { value };
        writer.property(&name, ValueRef::Binary(&vec![0; value]));
        left -= overhead + value;
        if left == 0 {
            break;
        }
    }
    writer.finish()
}

pub async fn size_1_to_4_an_entity_has_at_most_a_mebibyte_less_88<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    if portable(store) {
        let most = 1_048_576 - 88;
        refused(scene.insert("p", "r", sized("P", most + 1)).await, ErrorCode::EntityTooLarge);
        assert_eq!(scene.read("p", "r").await, None);
        scene.insert("p", "r", sized("P", most)).await.unwrap();
    }
}

pub async fn size_6_the_limits_of_a_merge_are_those_of_its_result<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    if !portable(store) {
        return;
    }
    scene.insert("p", "r", sized("P", 600_000)).await.unwrap();
    let before = scene.read("p", "r").await;
    let merge = scene.merge("p", "r", sized("Q", 600_000), IfMatch::Any).await;
    refused(merge, ErrorCode::EntityTooLarge);
    let merge = scene.insert_or_merge("p", "r", sized("Q", 600_000)).await;
    refused(merge, ErrorCode::EntityTooLarge);
    assert_eq!(scene.read("p", "r").await, before);
    scene.merge("p", "r", sized("P", 600_000), IfMatch::Any).await.unwrap();

    scene.insert("p", "many", many(252)).await.unwrap();
    refused(scene.merge("p", "many", a(1), IfMatch::Any).await, ErrorCode::TooManyProperties);
    scene.merge("p", "many", row([("P7", 2.into())]), IfMatch::Any).await.unwrap();
}

pub async fn size_5_the_overhead_of_json_does_not_count<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    if portable(store) {
        // Each of these characters takes up six bytes in JSON.
        let text = "\u{1}".repeat(32_768);
        scene.insert("p", "r", a(text.as_str())).await.unwrap();
        assert_eq!(scene.properties("p", "r").await, super::scene::is_a(text));
    }
}

pub async fn err_3_and_5_limits_are_checked_first_then_existence_then_the_etag<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(1)).await.unwrap();
    let long = "n".repeat(256);
    let broken = || row([(long.as_str(), 1.into())]);
    let error = refused(scene.insert("p", "r", broken()).await, ErrorCode::PropertyNameTooLong);
    assert_eq!(error.code().status(), 400);
    let error = refused(
        scene.replace("p", "x", broken(), super::scene::stale()).await,
        ErrorCode::PropertyNameTooLong,
    );
    assert_eq!(error.code().status(), 400);
    let error =
        refused(scene.replace("p", "x", a(1), super::scene::stale()).await, ErrorCode::ResourceNotFound);
    assert_eq!(error.code().status(), 404);
    let error = refused(
        scene.replace("p", "r", a(1), super::scene::stale()).await,
        ErrorCode::UpdateConditionNotSatisfied,
    );
    assert_eq!(error.code().status(), 412);
}
