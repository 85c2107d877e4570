//! Tests of `TableEntity`: its methods, and its round trips through rows and JSON.

use proptest::prelude::*;
use table_store::{ErrorCode, Value, ValueRef};
use uuid::Uuid;

use super::TableEntity;
use crate::entity::FromEntity;
use crate::etag::ETag;
use crate::odata::{Sender, read_entity};
use crate::query::EntityRef;
use crate::row::RowWriter;
use crate::ticks;

/// Generates properties with distinct names and with values of every type.
fn properties() -> impl Strategy<Value = Vec<(String, Value)>> {
    let value = prop_oneof![
        ".{0,12}".prop_map(Value::String),
        any::<i32>().prop_map(Value::Int32),
        any::<i64>().prop_map(Value::Int64),
        any::<u64>().prop_map(|bits| Value::Double(f64::from_bits(bits))),
        any::<bool>().prop_map(Value::Boolean),
        (ticks::EDM_MIN..=ticks::MAX).prop_map(|count| ValueRef::DateTime(count).to_owned()),
        any::<u128>().prop_map(|bits| Value::Guid(Uuid::from_u128(bits))),
        prop::collection::vec(any::<u8>(), 0..24).prop_map(Value::Binary),
    ];
    prop::collection::hash_map("[A-E_é]{1,2}|[a-z]{8,10}", value, 0..12)
        .prop_map(|properties| properties.into_iter().collect())
}

fn read(json: &str) -> serde_json::Result<TableEntity> {
    serde_json::from_str(json)
}

#[test]
fn prop_7_equality_ignores_order() {
    let one = TableEntity::new("p", "r").unwrap().with("A", 1).with("B", 2);
    let two = TableEntity::new("p", "r").unwrap().with("B", 2).with("A", 1);
    assert_eq!(one, two);
    assert_ne!(one, two.clone().with("C", 3));
    assert_ne!(one, two.clone().with("A", 1_i64));
    assert_ne!(one, TableEntity::new("p", "r2").unwrap().with("A", 1).with("B", 2));
}

#[test]
fn prop_1_names_differ_by_case() {
    let entity = TableEntity::new("p", "r").unwrap().with("Age", 1).with("age", 2);
    assert_eq!(
        (entity.get("Age"), entity.get("age"), entity.get("AGE")),
        (Some(&Value::Int32(1)), Some(&Value::Int32(2)), None)
    );
}

#[test]
fn a_replaced_property_keeps_its_position_and_a_removed_one_is_absent() {
    let mut entity = TableEntity::new("p", "r").unwrap().with("A", 1).with("B", 2).with("A", "x");
    assert_eq!(entity.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(entity.remove("A"), Some(Value::from("x")));
    assert_eq!((entity.remove("A"), entity.len(), entity.is_empty()), (None, 1, false));
}

#[test]
fn an_entity_that_was_read_keeps_its_version() {
    let mut writer = RowWriter::new();
    writer.property("A", ValueRef::Int32(1));
    let stored = writer.finish().with_timestamp(639_307_584_000_000_000);
    let entity = TableEntity::from_entity(EntityRef::new("p", "r", stored.view())).unwrap();
    assert_eq!(entity.etag(), Some(&ETag::from_ticks(639_307_584_000_000_000)));
    assert_eq!(entity.timestamp().unwrap().to_string(), "2026-11-20 08:00:00 UTC");
    assert_eq!(entity.to_row().unwrap().view().timestamp(), 0);
    let json = serde_json::to_string(&entity).unwrap();
    assert!(
        json.starts_with(r#"{"odata.etag":"W/\"datetime'2026-11-20T08%3A00%3A00Z'\"","PartitionKey":"p","#),
        "{json}"
    );
    assert_eq!(read(&json).unwrap(), entity);
}

#[test]
fn key_1_a_bag_without_a_key_is_refused() {
    for json in [r#"{"RowKey":"r"}"#, r#"{"PartitionKey":"p","RowKey":null}"#] {
        assert!(read(json).unwrap_err().to_string().starts_with("PropertiesNeedValue"), "{json}");
    }
    assert!(read(r#"{"PartitionKey":"a/b","RowKey":""}"#).unwrap_err().to_string().contains("KEY-3"));
    assert_eq!(read(r#"{"PartitionKey":"","RowKey":""}"#).unwrap(), TableEntity::new("", "").unwrap());
}

#[test]
fn prop_6_a_bag_with_a_duplicate_name_is_refused() {
    let error = read(r#"{"PartitionKey":"p","RowKey":"r","A":1,"A":2}"#).unwrap_err();
    assert!(error.to_string().contains(ErrorCode::DuplicatePropertiesSpecified.as_str()), "{error}");
}

#[test]
fn a_bag_reads_the_same_from_a_tree_and_from_text() {
    let json =
        r#"{"PartitionKey":"p","RowKey":"r","Id@odata.type":"Edm.Int64","Id":"5","D":3.0,"S":"\u00e9"}"#;
    let tree: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::from_value::<TableEntity>(tree).unwrap(), read(json).unwrap());
}

proptest! {
    #[test]
    fn rows_bags_and_json_are_equivalent(properties in properties(), partition_key in "[^\\p{Cc}/\\\\#?]{0,6}") {
        let mut bag = TableEntity::new(partition_key.clone(), "r").unwrap();
        let mut writer = RowWriter::new();
        for (name, value) in &properties {
            bag.insert(name.clone(), value.clone());
            writer.property(name, value.as_ref());
        }
        prop_assert_eq!(bag.to_row().unwrap(), writer.finish());
        let json = serde_json::to_string(&bag).unwrap();
        let body = read_entity(json.as_bytes(), Sender::Client).unwrap();
        prop_assert_eq!(body.key().unwrap(), bag.key().clone());
        prop_assert_eq!(format!("{:?}", read(&json).unwrap()), format!("{bag:?}")); // NaN is not equal to itself
    }
}
