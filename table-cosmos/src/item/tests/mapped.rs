//! Tests mapped items against a model. A written value must be read back, and the members written by other programs must be kept.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use table_core::row::{RowWriter, merge};

use super::*;
use crate::mapping::Format;

const LEVELS: [&str; 2] = ["contoso", "ada"];

/// Returns the mapping used by the tests.
fn mapping() -> Mapping {
    Mapping::new(["/tenantId", "/customer/id"])
        .property("Name", "/customer/name", Format::Text)
        .property("Count", "/n", Format::Int32)
        .property("Large", "/numbers/large", Format::Int64)
        .property("Digits", "/numbers/digits", Format::Int64Text)
        .property("Ratio", "/numbers/ratio", Format::Double)
        .property("Paid", "/paid", Format::Boolean)
        .property("At", "/times/at", Format::DateTime)
        .property("Seconds", "/times/seconds", Format::UnixSeconds)
        .property("Milliseconds", "/times/deep/milliseconds", Format::UnixMilliseconds)
        .property("Guid", "/guid", Format::Guid)
        .property("Bytes", "/bytes", Format::Base64)
        .time_to_live("ExpiresIn")
        .constant("/type", "order")
}

const MAPPED: [&str; 12] = [
    "Name",
    "Count",
    "Large",
    "Digits",
    "Ratio",
    "Paid",
    "At",
    "Seconds",
    "Milliseconds",
    "Guid",
    "Bytes",
    "ExpiresIn",
];

type Properties = BTreeMap<String, Value>;

fn value_of(name: &str) -> BoxedStrategy<Value> {
    let instant = |unit: u64| {
        let range = ticks::EDM_MIN / unit + 1..ticks::MAX / unit;
        range.prop_map(move |at| Value::DateTime(ticks::to_datetime(at * unit).unwrap())).boxed()
    };
    match name {
        "Name" => any::<String>().prop_map(Value::String).boxed(),
        "Count" => any::<i32>().prop_map(Value::Int32).boxed(),
        "ExpiresIn" => prop_oneof![Just(-1), 1..i32::MAX].prop_map(Value::Int32).boxed(),
        "Large" => (-(1_i64 << 53)..=1 << 53).prop_map(Value::Int64).boxed(),
        "Digits" => any::<i64>().prop_map(Value::Int64).boxed(),
        "Ratio" => {
            // Infinities, NaN and `-0.0` are excluded, because the format cannot represent them.
            any::<f64>()
                .prop_filter("finite", |number| number.is_finite())
                .prop_map(|number| Value::Double(number + 0.0))
                .boxed()
        }
        "Paid" => any::<bool>().prop_map(Value::Boolean).boxed(),
        "At" => instant(1),
        "Seconds" => instant(10_000_000),
        "Milliseconds" => instant(10_000),
        "Guid" => any::<u128>().prop_map(|bits| Value::Guid(Uuid::from_u128(bits))).boxed(),
        "Bytes" => prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::Binary).boxed(),
        // A property without a path in the mapping.
        _ => value().boxed(),
    }
}

fn properties() -> impl Strategy<Value = Properties> {
    let property = prop::sample::select([&MAPPED[..], &["Other", "More"]].concat())
        .prop_flat_map(|name| value_of(name).prop_map(move |value| (name.to_owned(), value)));
    prop::collection::vec(property, 0..8).prop_map(|all| all.into_iter().collect())
}

/// Generates members written by another program, at paths outside the mapping. Some of the paths resemble those of mapped members.
fn others() -> impl Strategy<Value = Vec<(&'static str, Json)>> {
    let places =
        vec!["/lines", "/customer/address", "/numbers/other", "/times/deep/other", "/times/zone", "/notes"];
    prop::collection::vec((prop::sample::select(places), json()), 0..6)
}

/// A write by this library.
#[derive(Clone, Debug)]
enum Change {
    Replace(Properties),
    Merge(Properties),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![properties().prop_map(Change::Replace), properties().prop_map(Change::Merge)]
}

fn row(properties: &Properties) -> Row {
    let mut writer = RowWriter::new();
    for (name, value) in properties {
        writer.property(name, value.as_ref());
    }
    writer.finish()
}

/// Adds the members that the service adds when it stores an item.
fn stored(mut item: Json) -> Json {
    let system =
        json!({"_rid": "r", "_self": "s", "_attachments": "a", "_ts": 1_600_000_000, "_etag": "\"7\""});
    for (name, value) in system.as_object().unwrap() {
        item[name] = value.clone();
    }
    item
}

/// Returns the members that belong neither to the mapping nor to the service.
fn rest(item: &Json) -> Json {
    let mapping = mapping();
    let mut members = item.as_object().unwrap().clone();
    members.retain(|name, _| !Mapping::is_system(name));
    let own = [&mapping.own.properties, &mapping.own.types, &mapping.own.write];
    let mapped = mapping.members.iter().map(|member| &member.path);
    for path in mapped.chain(&mapping.levels).chain(mapping.constants.iter().map(|(path, _)| path)).chain(own)
    {
        path.remove(&mut members);
    }
    without_empty(members.into())
}

/// Removes the empty objects that remain on the path of a removed value.
fn without_empty(json: Json) -> Json {
    match json {
        Json::Object(members) => {
            let kept = members.into_iter().map(|(name, value)| (name, without_empty(value)));
            Json::Object(
                kept.filter(|(_, value)| value.as_object().is_none_or(|members| !members.is_empty()))
                    .collect(),
            )
        }
        other => other,
    }
}

fn entity(item: &Json) -> Properties {
    entity_in(item, &mapping())
}

fn entity_in(item: &Json, mapping: &Mapping) -> Properties {
    let item = super::super::read(item, mapping).unwrap();
    assert_eq!((item.levels.as_slice(), item.row_key.as_str()), (&LEVELS.map(str::to_owned)[..], "o-7"));
    let properties = item.row.view().properties();
    properties
        .map(|property| property.map(|found| (found.name.to_owned(), found.value.to_owned())).unwrap())
        .collect()
}

fn is_equal(left: &Properties, right: &Properties) -> bool {
    let same = |left: &Value, right: &Value| match (left, right) {
        (Value::Double(left), Value::Double(right)) => {
            left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
        }
        (left, right) => left == right,
    };
    left.len() == right.len()
        && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| same(value, other)))
}

fn write_over(row: &Row, write_id: &str, over: Option<&Json>) -> Json {
    write_in(&mapping(), row, write_id, over)
}

fn write_in(mapping: &Mapping, row: &Row, write_id: &str, over: Option<&Json>) -> Json {
    let levels = LEVELS.map(str::to_owned);
    let key = ItemKey { levels: &levels, row_key: "o-7" };
    stored(write(mapping, key, row.view(), write_id, over).unwrap())
}

/// Returns the mapping of a release that has a path for each property whose bit is set in `mapped`.
fn part(mapped: u16) -> Mapping {
    let mut mapping = mapping();
    let mut bits = (0..).map(|bit| mapped >> bit & 1 == 1);
    mapping.members.retain(|_| bits.next().unwrap_or_default());
    mapping
}

proptest! {
    /// Tests two programs that write in turn. This library replaces and merges items, and another program sets unmapped members.
    #[test]
    fn wire_6_a_mapped_item_is_its_model_and_keeps_the_members_of_others(
        first in properties(),
        turns in prop::collection::vec((others(), change()), 1..6),
    ) {
        let mut model = first;
        let mut item = write_over(&row(&model), "w0", None);
        prop_assert!(is_equal(&entity(&item), &model), "{item}: {model:?}");
        for (number, (others, change)) in turns.into_iter().enumerate() {
            for (place, value) in others {
                let members = item.as_object_mut().unwrap();
                Path::parse(place).unwrap().set(members, value).unwrap();
            }
            let kept = rest(&item);
            let row = match change {
                Change::Replace(properties) => {
                    model = properties;
                    row(&model)
                }
                Change::Merge(properties) => {
                    let old = super::super::read(&item, &mapping()).unwrap().row;
                    let merged = merge(old.view(), row(&properties).view()).unwrap();
                    model.extend(properties);
                    merged
                }
            };
            let write_id = format!("w{number}");
            let text = write_over(&row, &write_id, Some(&item)).to_string();
            item = serde_json::from_str(&text).unwrap();
            prop_assert!(is_equal(&entity(&item), &model), "{item}: {model:?}");
            prop_assert_eq!(rest(&item), kept);
            prop_assert_eq!(written_by(&item, &mapping()), Some(write_id.as_str()));
        }
    }

    /// Tests a sequence of releases. Each release may add paths to the mapping, and reads items written by earlier releases.
    #[test]
    fn wire_6_a_property_that_gets_a_path_keeps_its_stored_value(
        turns in prop::collection::vec((any::<[u16; 3]>(), change()), 1..5),
        last in 0..1_u16 << MAPPED.len(),
    ) {
        let (mut mapped, mut model, mut item) = (0, Properties::new(), None::<Json>);
        for ([first, second, third], change) in turns {
            mapped |= first & second & third;
            let mapping = part(mapped);
            let row = match change {
                Change::Replace(properties) => {
                    model = properties;
                    row(&model)
                }
                Change::Merge(properties) => {
                    let old = item.as_ref().map(|item| super::super::read(item, &mapping).unwrap().row);
                    let old = old.unwrap_or_else(|| row(&Properties::new()));
                    model.extend(properties.clone());
                    merge(old.view(), row(&properties).view()).unwrap()
                }
            };
            let written = write_in(&mapping, &row, "w", item.as_ref());
            for further in [mapped, mapped | last, u16::MAX] {
                prop_assert!(is_equal(&entity_in(&written, &part(further)), &model), "{written}: {model:?}");
            }
            item = Some(written);
        }
    }

    #[test]
    fn wire_6_any_document_is_a_mapped_entity_of_its_own_key_or_an_error(
        places in prop::collection::vec(
            prop::sample::select(vec!["/id", "/tenantId", "/customer", "/customer/id", "/type", "/n", "/numbers", "/times/at", "/ttl", "/_tables"]),
            0..4,
        ),
        values in prop::collection::vec(json(), 4),
    ) {
        let mut item = write_over(&row(&Properties::new()), "w", None);
        for (place, value) in places.iter().zip(values) {
            let _ = Path::parse(place).unwrap().set(item.as_object_mut().unwrap(), value);
        }
        match super::super::read(&item, &mapping()) {
            Ok(read) => {
                prop_assert_eq!(item["tenantId"].as_str(), Some(&*read.levels[0]));
                prop_assert_eq!(item["customer"]["id"].as_str(), Some(&*read.levels[1]));
                prop_assert_eq!(&item["type"], "order");
            }
            Err(error) => prop_assert!(error.code() == ErrorCode::Corrupted && error.key().is_some()),
        }
    }
}

#[test]
fn wire_6_an_unchanged_value_keeps_its_text() {
    let item = stored(json!({
        "id": "o-7", "tenantId": "contoso", "customer": {"id": "ada", "name": null}, "type": "order",
        "times": {"at": "2026-11-26T08:00:00.000+00:00"}, "n": 7,
    }));
    let mut model = entity(&item);
    assert_eq!(model.keys().collect::<Vec<_>>(), ["At", "Count"], "a null is an absent property");
    model.insert("Count".to_owned(), Value::Int32(8));
    let written = write_over(&row(&model), "w", Some(&item));
    assert_eq!(written["times"]["at"], "2026-11-26T08:00:00.000+00:00");
    assert_eq!((&written["n"], &written["customer"]["name"]), (&json!(8), &Json::Null));
}

#[test]
fn wire_6_what_does_not_fit_the_mapping_is_told() {
    let item = |change: Json| {
        let mut item = stored(json!({
            "id": "o-7", "tenantId": "contoso", "customer": {"id": "ada"}, "type": "order", "n": 7,
        }));
        for (name, value) in change.as_object().unwrap() {
            item[name] = value.clone();
        }
        item
    };
    assert_eq!(entity(&item(json!({}))).len(), 1);
    let both = entity(&item(json!({"_tables": {"p": {"Count": 8}}})));
    assert_eq!(both["Count"], Value::Int32(7), "the member at the path has precedence");
    for (change, what) in [
        (json!({"type": "invoice"}), "its `/type` is not `order`"),
        (json!({"type": null}), "its `/type` is not `order`"),
        (json!({"customer": "ada"}), "`/customer/id` is missing or null"),
        (json!({"tenantId": 7}), "`/tenantId` is a number"),
        (json!({"tenantId": "a!b"}), "2 levels"),
        (json!({"n": "seven"}), "`Count`"),
        (json!({"numbers": [1]}), "`Large`"),
        (json!({"ttl": 0}), "`ExpiresIn`"),
        (json!({"n": null, "_tables": {"p": {"Count": "seven"}}}), "`Count`"),
        (json!({"n": null, "_tables": {"p": {"Count": 7}, "t": {"Count": "Int64"}}}), "`Count`"),
        (json!({"_tables": {"p": [1]}}), "`p` is missing"),
    ] {
        let item = item(change);
        let error = super::super::read(&item, &mapping()).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::Corrupted, Some("WIRE-6")), "{item}");
        assert!(error.to_string().contains(what), "{item}: {error}");
    }
}
