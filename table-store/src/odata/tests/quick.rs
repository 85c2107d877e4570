//! Tests that the fast path agrees with the general reader. The documents have members in any order, types before or after their values, escapes and repeated
//! names.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::{ALL, STAMP, shown};
use crate::error::ErrorCode;
use crate::odata::page::slow_rows;
use crate::odata::{MetadataLevel, quick, read_rows, read_rows_or_skip, write_page};
use crate::query::Rows;
use crate::row::tests::{model, row};
use crate::value::ValueRef;

/// Returns a page's complete content as text, in which NaN equals NaN.
fn texts(rows: &Rows) -> Vec<String> {
    let texts = rows.iter().map(|entity| {
        let (partition_key, row_key, etag) = (entity.partition_key, entity.row_key, entity.etag());
        format!("{partition_key:?} {row_key:?} {etag} {} {}", entity.row.timestamp(), shown(entity.row))
    });
    texts.collect()
}

fn agree(page: &str) -> Result<bool, TestCaseError> {
    let (quick, slow, read) =
        (quick::rows(page.as_bytes()), slow_rows(page.as_bytes(), Err), read_rows(page.as_bytes()));
    let slow_texts =
        slow.as_ref().map(texts).map_err(|error| (error.code(), error.rule(), error.to_string()));
    let read_texts =
        read.as_ref().map(texts).map_err(|error| (error.code(), error.rule(), error.to_string()));
    prop_assert_eq!(&read_texts, &slow_texts, "{}", page);
    if let Some(quick) = &quick {
        prop_assert_eq!(Ok(texts(quick)), slow_texts, "{}", page);
        for (a, b) in quick.iter().zip(slow.unwrap().iter()) {
            prop_assert_eq!(a.row.to_row(), b.row.to_row());
        }
    }
    Ok(quick.is_some())
}

/// Generates member names from a short list, so they often repeat or match type annotations.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "A",
        "B",
        "Count",
        "LongerName",
        "\\u0041",
        "PartitionKey",
        "RowKey",
        "Timestamp",
        "odata.etag",
        "odata.x",
        "A@odata.navigationLinkUrl",
        "a@b",
        "",
    ])
}

fn value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "null",
        "true",
        "1",
        "-0",
        "3.0",
        "3e0",
        "5.5",
        "2147483648",
        "9223372036854775808",
        "1e999",
        "[]",
        "{\"a\":[1]}",
        "\"\"",
        "\"text\"",
        "\"a\\\"b\"",
        "\"\\ud800\"",
        "\"5\"",
        "\"NaN\"",
        "\"AQID\"",
        "\"a/b\"",
        "\"2026-11-20T08:14:48.1444672Z\"",
        "\"2026-11-20T08:14:48+02:00\"",
        "\"0001-01-01T00:00:00Z\"",
        "\"c9da6455-213d-42c9-9a79-3e9149a57833\"",
        "\"W/\\\"datetime'2026-11-20T08%3A14%3A48.1444672Z'\\\"\"",
    ])
}

fn edm() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "\"Edm.String\"",
        "\"Edm.Int32\"",
        "\"Edm.Int64\"",
        "\"Edm.Double\"",
        "\"Edm.Boolean\"",
        "\"Edm.DateTime\"",
        "\"Edm.Guid\"",
        "\"Edm.Binary\"",
        "\"Edm.None\"",
        "7",
    ])
}

/// Generates members, some of them preceded by a type annotation.
fn member() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (name(), value()).prop_map(|(name, value)| format!(r#""{name}":{value}"#)),
        1 => (name(), edm()).prop_map(|(name, edm)| format!(r#""{name}@odata.type":{edm}"#)),
        2 => (name(), edm(), value(), any::<bool>()).prop_map(|(name, edm, value, before)| {
            let (edm, value) = (format!(r#""{name}@odata.type":{edm}"#), format!(r#""{name}":{value}"#));
            if before { format!("{edm},{value}") } else { format!("{value},{edm}") }
        }),
    ]
}

fn entity() -> impl Strategy<Value = String> {
    (prop::collection::vec(member(), 0..5), any::<bool>()).prop_map(|(members, keys)| {
        let keys = keys.then(|| r#""PartitionKey":"p","RowKey":"r""#.to_owned());
        format!("{{{}}}", keys.into_iter().chain(members).collect::<Vec<_>>().join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn type_2_and_prop_6_both_readers_agree_on_any_members(entities in prop::collection::vec(entity(), 0..3)) {
        agree(&format!(r#"{{"odata.metadata":"x","value":[{}]}}"#, entities.join(",")))?;
    }

    #[test]
    fn type_2_a_type_counts_at_any_position(model in model(), order in any::<u64>()) {
        // An entity is written and read with its members in a different order. The result may differ only in the order of the properties.
        let stored = row(&model).with_timestamp(STAMP);
        let mut rows = Rows::default();
        rows.push("p", "r", stored.view(), None);
        let page = write_page(&rows, MetadataLevel::Minimal, &ALL).unwrap();
        prop_assert!(agree(&page)?, "the fast path reads a service's page: {}", page);
        let tree: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&page).unwrap();
        let mut members: Vec<_> = tree["value"][0].as_object().unwrap().iter().collect();
        members.sort_by_key(|(name, _)| crate::fnv::fnv1a64(format!("{order}{name}").as_bytes()));
        let mut json = String::new();
        for (name, value) in members {
            write!(json, ",{}:{value}", serde_json::Value::from(name.as_str())).unwrap();
        }
        let page = format!(r#"{{"value":[{{{}}}]}}"#, json.trim_start_matches(','));
        agree(&page)?;
        let read = read_rows(page.as_bytes()).unwrap();
        let found = read.get(0).unwrap();
        prop_assert_eq!(found.row.len(), model.len());
        for (name, value) in &model {
            let value = value.as_ref();
            let read = found.row.find(name, &mut 0).unwrap();
            prop_assert_eq!(format!("{read:?}"), format!("{:?}", Some(value)));
        }
    }

    #[test]
    fn both_readers_agree_on_any_text(text in r#"(\{|\}|"|:|,|\[|\]|"value":|\[|A|@odata.type|Edm.Int64|null|1|-|\.|e|\\u){0,24}"#) {
        agree(&text)?;
    }
}

#[test]
fn output_of_azurite_and_the_service_takes_the_fast_path() {
    let azurite = concat!(
        r#"{"odata.metadata":"http://127.0.0.1:10002/devstoreaccount1/$metadata#Tables/@Element","value":[{"#,
        r#""odata.etag":"W/\"datetime'2026-11-20T08%3A14%3A48.1444670Z'\"","PartitionKey":"p","RowKey":"r","Level":3,"#,
        r#""Total@odata.type":"Edm.Int64","Total":"7","Gone":null,"Timestamp":"2026-11-20T08:14:48.1444670Z"}]}"#,
    );
    let full = concat!(
        r#"{"odata.metadata":"x","value":[{"odata.type":"a.T","odata.id":"i","odata.etag":"W/\"x\"","odata.editLink":"l","#,
        r#""PartitionKey":"p\n","RowKey":"r","Timestamp@odata.type":"Edm.DateTime","#,
        r#""Timestamp":"2026-11-20T08:14:48Z","A":"\"q\"","B":1}]}"#,
    );
    assert!(agree(azurite).unwrap());
    assert!(!agree(full).unwrap(), "a control character is refused");
    assert!(agree(&full.replace("\\n", "")).unwrap());
}

#[test]
fn prop_6_possible_duplicate_names_are_checked() {
    let page = |last: &str| {
        let mut json = String::from(r#"{"value":[{"PartitionKey":"p","RowKey":"r""#);
        for index in 0..250 {
            write!(json, r#","Property{index}":{index}"#).unwrap();
        }
        json.push_str(last);
        json.push_str("}]}");
        json
    };
    assert!(agree(&page("")).unwrap());
    assert!(!agree(&page(r#","Property9":9"#)).unwrap());
    let error = read_rows(page(r#","Property9":null"#).as_bytes()).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::DuplicatePropertiesSpecified, Some("PROP-6")));
    assert!(!agree(&page(r#","Gone":null,"Gone":null"#)).unwrap());
    assert!(!agree(r#"{"value":[{"PartitionKey":"p","RowKey":"r","Gone":null,"Gone":null}]}"#).unwrap());
    let rows = read_rows(page(r#","Gone":null"#).as_bytes()).unwrap();
    assert_eq!(rows.get(0).unwrap().row.find("Property7", &mut 0).unwrap(), Some(ValueRef::Int32(7)));
}

#[test]
fn type_6_and_key_3_an_entity_that_cannot_be_represented_is_skipped_with_its_key() {
    let long = "k".repeat(1_025);
    let entities = [
        (
            r#""PartitionKey":"p","RowKey":"r","A@odata.type":"Edm.DateTime","A":"0001-01-01T00:00:00Z""#
                .to_owned(),
            "TYPE-6",
            "p",
        ),
        (
            r#""PartitionKey":"p","RowKey":"r","A":"\ud800","A@odata.type":"Edm.Int64""#.to_owned(),
            "TYPE-8",
            "p",
        ),
        (r#""PartitionKey":"p","RowKey":"r","A@odata.type":"Edm.Single","A":"1""#.to_owned(), "ENG-10", "p"),
        (r#""PartitionKey":"p","RowKey":"r","A":{}"#.to_owned(), "TYPE-9", "p"),
        (r#""PartitionKey":"p","RowKey":"r","A":1,"A":2"#.to_owned(), "PROP-6", "p"),
        (r#""PartitionKey":"a/b","RowKey":"r""#.to_owned(), "KEY-3", "a/b"),
        (r#""PartitionKey":"\ud800","RowKey":"r""#.to_owned(), "KEY-3", "\u{fffd}"),
        (format!(r#""PartitionKey":"{long}","RowKey":"r""#), "KEY-8", &*long),
    ];
    for (entity, rule, partition_key) in &entities {
        let page = format!(
            r#"{{"value":[{{"PartitionKey":"p","RowKey":"a"}},{{{entity}}},{{"PartitionKey":"p","RowKey":"b"}}]}}"#
        );
        let mut skipped = Vec::new();
        let rows = read_rows_or_skip(page.as_bytes(), |error| skipped.push(error)).unwrap();
        assert_eq!(rows.iter().map(|row| row.row_key).collect::<Vec<_>>(), ["a", "b"], "{entity}");
        let found: Vec<_> = skipped.iter().map(|error| (error.rule(), error.key())).collect();
        assert_eq!(found, [(Some(*rule), Some((*partition_key, "r")))], "{entity}");
        assert_eq!(read_rows(page.as_bytes()).unwrap_err().rule(), Some(*rule));
    }
    let all: Vec<_> = entities.iter().map(|(entity, ..)| format!("{{{entity}}}")).collect();
    let mut skipped = 0;
    let rows = read_rows_or_skip(format!(r#"{{"value":[{}]}}"#, all.join(",")).as_bytes(), |_| skipped += 1);
    assert_eq!((rows.unwrap().len(), skipped), (0, entities.len()));
}

/// Tests pages that a table service never sends. If their entities were skipped, such a page would look empty.
#[test]
fn json_7_a_page_that_is_not_of_a_table_is_an_error_even_if_entities_are_skipped() {
    for page in [
        "",
        "{}",
        r#"{"value":1}"#,
        r#"{"value":[1]}"#,
        r#"{"value":[{"RowKey":"r"}]}"#,
        r#"{"value":[{"PartitionKey":"p","RowKey":7}]}"#,
        r#"{"value":[{"PartitionKey":"p","RowKey":"r","odata.etag":"strong"}]}"#,
        r#"{"value":[{"PartitionKey":"p","RowKey":"r","odata.etag":"strong","A":[]}]}"#,
        r#"{"value":[{"PartitionKey":"p","RowKey":"r","Timestamp":"yesterday"}]}"#,
        r#"{"value":[{"PartitionKey":"p","RowKey":"r"}"#,
    ] {
        read_rows_or_skip(page.as_bytes(), |error| panic!("{page}: {error}")).unwrap_err();
    }
}

#[test]
fn key_1_and_key_4_a_page_of_rows_needs_keys() {
    let refused =
        |entity: &str| read_rows(format!(r#"{{"value":[{entity}]}}"#).as_bytes()).unwrap_err().code();
    assert_eq!(refused(r#"{"RowKey":"r"}"#), ErrorCode::PropertiesNeedValue);
    assert_eq!(refused(r#"{"PartitionKey":"a/b","RowKey":"r"}"#), ErrorCode::OutOfRangeInput);
    assert_eq!(
        refused(r#"{"PartitionKey":"p","RowKey":"r","A@odata.type":"Edm.Int64","A":"x"}"#),
        ErrorCode::InvalidInput
    );
}
