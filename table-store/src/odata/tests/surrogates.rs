//! Tests of strings with unpaired surrogates, which UTF-8 cannot represent.

use proptest::prelude::*;

use crate::odata::{Sender, read_entity, read_rows, read_rows_or_skip};
use crate::value::Value;

proptest! {
    // A client with UTF-16 strings can store an unpaired surrogate, and a JavaScript server sends it as an escape.
    #[test]
    fn a_half_surrogate_pair_does_not_hide_the_other_entities_of_a_page(
        parts in prop::collection::vec(
            prop_oneof![
                (0xD800..=0xDFFF_u16).prop_map(|unit| format!("\\u{unit:04x}")),
                (0xD800..=0xDFFF_u16).prop_map(|unit| format!("\\u{unit:04X}")),
                prop::sample::select(vec!["a", r"\\", r"\\u", r#"\""#, "d800", r"\u0041", "\u{1F600}"])
                    .prop_map(str::to_owned),
            ],
            0..6,
        ),
    ) {
        let text = parts.concat();
        let json = format!(
            r#"{{"value":[{{"PartitionKey":"p","RowKey":"1","Text":"{text}"}},{{"PartitionKey":"p","RowKey":"2"}}]}}"#
        );
        let page = read_rows(json.as_bytes()).unwrap();
        let keys: Vec<&str> = page.iter().map(|entity| entity.row_key).collect();
        prop_assert_eq!(keys, ["1", "2"]);
        let read = read_entity(format!(r#"{{"Text":"{text}"}}"#).as_bytes(), Sender::Service).unwrap();
        prop_assert_eq!(
            read.row.view().find("Text", &mut 0).unwrap().map(Value::from),
            Some(Value::from(model_of(&parts)))
        );
    }

    // If an unpaired surrogate in a key were replaced with a legal character, two entities could get the same key. A write to one of them could then change the
    // other.
    #[test]
    fn key_3_a_key_with_half_a_surrogate_pair_is_skipped_and_never_another_key(
        rows in prop::collection::vec((key_parts(), key_parts()), 1..5),
    ) {
        let entities = rows.iter().map(|(partition, row)| {
            format!(r#"{{"PartitionKey":"{}","RowKey":"{}","Text":"\ud800"}}"#, partition.concat(), row.concat())
        });
        let entities: Vec<String> = entities.collect();
        let json = format!(r#"{{"value":[{}]}}"#, entities.join(","));
        let exact = |parts: &[String]| String::from_utf16(&units_of(parts)).ok();
        let keys = |(partition, row): &(Vec<String>, Vec<String>)| Some((exact(partition)?, exact(row)?));
        let expected: Vec<_> = rows.iter().filter_map(keys).collect();
        let mut skipped = 0;
        let page = read_rows_or_skip(json.as_bytes(), |error| {
            assert_eq!(error.rule(), Some("KEY-3"));
            skipped += 1;
        }).unwrap();
        let found: Vec<_> =
            page.iter().map(|row| (row.partition_key.to_owned(), row.row_key.to_owned())).collect();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(skipped, rows.len() - expected.len());
        prop_assert_eq!(read_rows(json.as_bytes()).is_ok(), skipped == 0);
        for (entity, row) in entities.iter().zip(&rows) {
            let body = read_entity(entity.as_bytes(), Sender::Service).unwrap();
            prop_assert_eq!(body.row.view().find("Text", &mut 0).unwrap().map(Value::from), Some(Value::from("\u{fffd}")));
            let key = body.key().ok().map(|key| (key.partition_key.to_string(), key.row_key.to_string()));
            prop_assert_eq!(key, keys(row));
        }
    }
}

/// Generates the parts of a JSON string. The string is a legal key, or a key with an unpaired surrogate.
fn key_parts() -> impl Strategy<Value = Vec<String>> {
    let units = (0xD800..=0xDFFF_u16).prop_map(|unit| format!("\\u{unit:04x}"));
    let others = prop::sample::select(vec!["a", "\u{fffd}", r"\ufffd", r"\u0041", "\u{1F600}"]);
    prop::collection::vec(prop_oneof![1 => units, 3 => others.prop_map(str::to_owned)], 0..3)
}

/// Decodes the parts of a JSON string as UTF-16, with U+FFFD for an unpaired surrogate.
fn model_of(parts: &[String]) -> String {
    String::from_utf16_lossy(&units_of(parts))
}

fn units_of(parts: &[String]) -> Vec<u16> {
    let mut units = Vec::new();
    for part in parts {
        match (part.strip_prefix("\\u"), part.strip_prefix('\\')) {
            (Some(unit), _) => units.push(u16::from_str_radix(unit, 16).unwrap()),
            (None, Some(escaped)) => units.extend(escaped.encode_utf16()),
            (None, None) => units.extend(part.encode_utf16()),
        }
    }
    units
}
