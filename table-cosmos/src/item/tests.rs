//! Tests that written items can be read back, and that invalid items written by other programs are reported as errors.

use proptest::prelude::*;

use table_core::row::RowWriter;
use table_core::{ErrorCode, PartitionKey, RowKey, Value, ticks};
use uuid::Uuid;

use super::document::parse;
use super::*;
use crate::mapping::Path;

mod mapped;

/// Returns the document of an item in the standard format.
fn standard(levels: &[String], row: &Row) -> Json {
    let key = ItemKey { levels, row_key: "r" };
    write(&Mapping::standard(levels.len()), key, row.view(), "w", None).unwrap()
}

fn read(json: &Json, depth: usize) -> Result<Item> {
    super::read(json, &Mapping::standard(depth))
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<String>().prop_map(Value::String),
        any::<i32>().prop_map(Value::Int32),
        any::<i64>().prop_map(Value::Int64),
        any::<u64>().prop_map(|bits| Value::Double(f64::from_bits(bits))),
        (-1e6..1e6_f64).prop_map(|number| Value::Double(number.round())),
        any::<bool>().prop_map(Value::Boolean),
        (ticks::EDM_MIN..ticks::MAX).prop_map(|at| Value::DateTime(ticks::to_datetime(at).unwrap())),
        any::<u128>().prop_map(|bits| Value::Guid(Uuid::from_u128(bits))),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::Binary),
    ]
}

proptest! {
    #[test]
    fn type_1_and_wire_6_a_written_item_is_read_back(
        properties in prop::collection::btree_map("[A-Za-z_][A-Za-z0-9_]{0,8}", value(), 0..6),
        levels in prop::collection::vec("[a-z]{0,3}", 1..4),
    ) {
        let mut writer = RowWriter::new();
        for (name, value) in &properties {
            writer.property(name, value.as_ref());
        }
        let row = writer.finish();
        let text = standard(&levels, &row).to_string();
        let mut json: Json = serde_json::from_str(&text).unwrap();
        prop_assert!(parse(&json, &Mapping::standard(levels.len())).is_err(), "a response has `_ts` and `_etag`");
        json["_ts"] = 1_600_000_000.into();
        json["_etag"] = "\"7\"".into();
        let item = read(&json, levels.len()).unwrap();
        prop_assert_eq!(&item.levels, &levels);
        prop_assert_eq!(item.row_key.as_str(), "r");
        prop_assert_eq!(sent_etag(&item.etag), "\"7\"");
        let read: std::collections::BTreeMap<String, Value> = item.row.view().properties().map(|property| {
            let property = property.unwrap();
            (property.name.to_owned(), property.value.to_owned())
        }).collect();
        prop_assert_eq!(read.len(), properties.len());
        for (name, value) in &properties {
            match (value, &read[name]) {
                (Value::Double(left), Value::Double(right)) => {
                    prop_assert!(left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan());
                }
                (left, right) => prop_assert_eq!(left, right),
            }
        }
        for depth in (1..4).filter(|depth| *depth != levels.len()) {
            prop_assert!(self::read(&json, depth).is_err());
        }
    }
}

fn sample() -> Json {
    serde_json::json!({
        "id": "7", "l1": "a", "l2": "b", "p": {"A": 1, "B": "12"}, "t": {"B": "Int64"}, "o": "w", "_ts": 1_600_000_000, "_etag": "\"7\"",
    })
}

#[test]
fn epk_5_a_level_that_is_an_object_or_a_list_is_not_a_key() {
    for level in
        [serde_json::json!({}), serde_json::json!({"a": 1}), serde_json::json!([]), serde_json::json!(["a"])]
    {
        let mut item = sample();
        item["l2"] = level;
        assert_eq!(read(&item, 2).unwrap_err().rule(), Some("WIRE-6"), "{item}");
    }
}

/// Generates JSON with little nesting.
fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
        Just(Json::from("a!b")),
        Just(Json::from("")),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map("[A-Z]{0,3}", inner, 0..4)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

/// A test case: the member to change, its new value, the expected error, and the expected key.
type Case = (&'static str, Option<Json>, &'static str, (&'static str, &'static str));

#[test]
fn wire_6_a_foreign_item_is_reported_with_its_key() {
    let cases: [Case; 13] = [
        ("id", None, "its id", ("a!b!", "")),
        ("id", Some("".into()), "its id", ("a!b!", "")),
        ("id", Some("a/b".into()), "its id", ("a!b!", "a/b")),
        ("l2", None, "`/l2` is missing or null", ("a", "7")),
        ("l2", Some(7.into()), "`/l2` is a number", ("a", "7")),
        ("l3", Some("c".into()), "2 levels", ("a!b!", "7")),
        ("l1", Some("a!b".into()), "2 levels", ("a!b!b!", "7")),
        ("l1", Some("a/b".into()), "2 levels", ("a/b!b!", "7")),
        ("p", None, "`p` is missing", ("a!b!", "7")),
        ("p", Some(serde_json::json!({"no name": 1})), "`p` is missing", ("a!b!", "7")),
        ("p", Some(serde_json::json!({"A": [1]})), "`A`", ("a!b!", "7")),
        ("t", Some(serde_json::json!({"A": "Guid"})), "`A`", ("a!b!", "7")),
        ("_ts", Some((-1).into()), "`_ts`", ("a!b!", "7")),
    ];
    assert!(read(&sample(), 2).is_ok());
    for (name, value, what, key) in cases {
        let mut item = sample();
        match value {
            Some(value) => item[name] = value,
            None => drop(item.as_object_mut().unwrap().remove(name)),
        }
        let error = read(&item, 2).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::Corrupted, Some("WIRE-6")), "{item}");
        assert!(error.to_string().contains(what), "{item}: {error}");
        assert_eq!(error.key(), Some(key), "{item}");
    }
}

proptest! {
    #[test]
    fn wire_6_any_document_is_an_entity_of_its_own_key_or_an_error(
        names in prop::collection::vec(prop::sample::select(vec!["id", "l1", "l2", "l3", "p", "t", "o", "_ts", "_etag"]), 0..4),
        values in prop::collection::vec(json(), 4),
        depth in 1..4_usize,
    ) {
        let mut item = sample();
        for (name, value) in names.iter().zip(values) {
            item[*name] = value;
        }
        match read(&item, depth) {
            Ok(read) => {
                prop_assert_eq!(key::levels(&read.partition_key, depth), Some(read.levels.clone()));
                prop_assert_eq!(item["id"].as_str(), Some(&*key::id(&read.row_key)));
                prop_assert!(PartitionKey::new(&*read.partition_key).is_ok() && RowKey::new(&*read.row_key).is_ok());
            }
            Err(error) => prop_assert!(error.code() == ErrorCode::Corrupted && error.key().is_some()),
        }
    }
}
