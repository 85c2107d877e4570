//! Test scenarios for properties: the eight types, and the limits of their values (PROP, TYPE rules).

use chrono::{DateTime, Utc};
use table_core::{ErrorCode, TableStore, Value};
use uuid::Uuid;

use super::scene::{Scene, a, is_a, refused, row};

fn instant(text: &str) -> Value {
    Value::DateTime(text.parse::<DateTime<Utc>>().unwrap())
}

pub async fn type_1_values_of_every_type_round_trip<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let values = [
        Value::from(""),
        "é\u{1F600} 'quoted' \u{0}\n".into(),
        i32::MIN.into(),
        i32::MAX.into(),
        i64::MIN.into(),
        i64::MAX.into(),
        0.1.into(),
        3.0.into(),
        f64::MIN_POSITIVE.into(),
        f64::INFINITY.into(),
        f64::NEG_INFINITY.into(),
        true.into(),
        false.into(),
        instant("1601-01-01T00:00:00Z"),
        instant("9999-12-31T23:59:59.9999999Z"),
        instant("2014-08-22T00:50:32.1234567Z"),
        Uuid::nil().into(),
        Uuid::max().into(),
        Vec::<u8>::new().into(),
        vec![0_u8, 255, 128].into(),
    ];
    for (number, value) in values.into_iter().enumerate() {
        let row_key = number.to_string();
        scene.insert("p", &row_key, a(value.clone())).await.unwrap();
        assert_eq!(scene.properties("p", &row_key).await, is_a(value));
    }
}

pub async fn eng_19_nan_and_the_sign_of_zero_survive<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", row([("N", f64::NAN.into()), ("Z", (-0.0).into())])).await.unwrap();
    let properties = scene.properties("p", "r").await;
    assert!(matches!(properties.get("N"), Some(Value::Double(number)) if number.is_nan()));
    assert!(matches!(properties.get("Z"), Some(Value::Double(number)) if number.is_sign_negative()));
}

pub async fn type_6_an_instant_out_of_range_is_refused<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    for text in ["0001-01-01T00:00:00Z", "1600-12-31T23:59:59.999Z"] {
        refused(scene.insert("p", "r", a(instant(text))).await, ErrorCode::OutOfRangeInput);
    }
    assert_eq!(scene.read("p", "r").await, None);
}

pub async fn prop_1_and_3_names_are_case_sensitive_identifiers<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene
        .insert("p", "1", row([("Age", 1.into()), ("age", 2.into()), ("straße_2", 3.into())]))
        .await
        .unwrap();
    assert_eq!(scene.properties("p", "1").await.len(), 3);
    for name in ["", "2nd", "a-b", "a b", "a.b", "$a", "@a"] {
        let error =
            refused(scene.insert("p", "2", row([(name, 1.into())])).await, ErrorCode::PropertyNameInvalid);
        assert_eq!(error.rule(), Some("PROP-3"), "{name}");
    }
}

pub async fn prop_4_reserved_names_are_refused_as_properties<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    for name in ["PartitionKey", "RowKey", "Timestamp"] {
        refused(scene.insert("p", "r", row([(name, "x".into())])).await, ErrorCode::PropertyNameInvalid);
    }
}

pub async fn prop_6_a_duplicate_name_is_refused<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let twice = row([("A", 1.into()), ("B", 2.into()), ("A", 3.into())]);
    refused(scene.insert("p", "r", twice).await, ErrorCode::DuplicatePropertiesSpecified);
}
