//! Tests of strings with half a surrogate pair, which UTF-8 cannot represent.

use proptest::prelude::*;

use crate::odata::{Sender, read_entity, read_rows};
use crate::value::Value;

proptest! {
    // A client whose strings are UTF-16 can store half a surrogate pair, and a server in JavaScript sends it as an escape.
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
}

/// Returns the text of the parts of a JSON string: the units are decoded as UTF-16, with U+FFFD for half a pair.
fn model_of(parts: &[String]) -> String {
    let mut units = Vec::new();
    for part in parts {
        match (part.strip_prefix("\\u"), part.strip_prefix('\\')) {
            (Some(unit), _) => units.push(u16::from_str_radix(unit, 16).unwrap()),
            (None, Some(escaped)) => units.extend(escaped.encode_utf16()),
            (None, None) => units.extend(part.encode_utf16()),
        }
    }
    String::from_utf16_lossy(&units)
}
