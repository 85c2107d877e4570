//! Unparsed items, as sent by the service. Each item is parsed separately, so an invalid item does not make the rest of its page unreadable.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use table_core::{Error, Result};

use crate::item::fault::{Foreign, ForeignItem};
use crate::key;

/// The JSON text of an item.
pub(crate) type RawItem = Box<RawValue>;

/// The id of an item, parsed without its other members.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
}

/// The resource id of an item, parsed without its other members.
#[derive(Deserialize)]
struct Place<'a> {
    #[serde(borrow, rename = "_rid")]
    rid: Option<Cow<'a, str>>,
}

/// Returns the id of an item, even if its other members cannot be parsed.
pub(crate) fn raw_id(item: &RawValue) -> Option<String> {
    serde_json::from_str::<Head<'_>>(item.get()).ok()?.id.map(Cow::into_owned)
}

/// Returns a number that identifies an item's container, or `None` if the item has no valid resource id.
///
/// The number is greater than 0. It changes if the container is deleted and created again.
pub(crate) fn incarnation(item: &RawValue) -> Option<u32> {
    incarnation_of(&serde_json::from_str::<Place<'_>>(item.get()).ok()?.rid?)
}

/// Returns a number that identifies a container, or `None` if the id is invalid. `rid` is the resource id of the container or of one of its items.
pub(crate) fn incarnation_of(rid: &str) -> Option<u32> {
    // The service writes `-` instead of the `/` of base64.
    let bytes = BASE64_STANDARD.decode(rid.replace('-', "/")).ok()?;
    // The resource id starts with the database id, followed by the container id and the item id.
    let (database, rest) = bytes.split_first_chunk()?;
    let container = u32::from_be_bytes(*rest.first_chunk()?);
    Some((u32::from_be_bytes(*database).rotate_left(16) ^ container).max(1))
}

/// Parses an item.
///
/// # Errors
/// `Corrupted` if the nesting exceeds 127 levels, a number is outside the range of doubles, or a string is not valid Unicode. Other programs may store such
/// items.
pub(crate) fn parse_raw(item: &RawValue) -> Result<Json> {
    serde_json::from_str(item.get()).map_err(|error| {
        let id = raw_id(item).unwrap_or_default();
        let row_key = key::row_key(&id).to_owned();
        let fault = ForeignItem { id, what: Foreign::Unreadable };
        Error::of(fault).with_key("", row_key).with_source(error)
    })
}

#[cfg(test)]
mod tests {
    use table_core::ErrorCode;

    use super::*;

    #[test]
    fn wire_6_an_item_that_cannot_be_parsed_is_reported_with_its_id() {
        let deep = format!(r#"{{"note": {}1{}, "id": "a"}}"#, "[".repeat(200), "]".repeat(200));
        for text in [&deep, r#"{"id": "a", "note": "\ud83d"}"#, r#"{"id": "a", "note": 1e999}"#] {
            let item = RawValue::from_string(text.to_owned()).unwrap();
            let error = parse_raw(&item).unwrap_err();
            assert_eq!((error.code(), error.rule()), (ErrorCode::Corrupted, Some("WIRE-6")), "{error}");
            assert!(error.to_string().contains("item `a`"), "{error}");
            assert_eq!(raw_id(&item).as_deref(), Some("a"));
        }
        let item = RawValue::from_string(r#"{"id": 7}"#.to_owned()).unwrap();
        assert_eq!((parse_raw(&item).unwrap(), raw_id(&item)), (serde_json::json!({"id": 7}), None));
    }

    #[test]
    fn page_9_the_resource_id_of_an_item_identifies_its_container() {
        let of = |rid: &str| incarnation(&RawValue::from_string(format!(r#"{{"_rid": "{rid}"}}"#)).unwrap());
        // Two items in one container, and an item in a second container of the same database.
        let [first, second, other] =
            ["kuV+AP-3aHwBAAAAAAAAAA==", "kuV+AP-3aHwCAAAAAAAAAA==", "kuV+ALq1x0wBAAAAAAAAAA=="];
        assert!(of(first).is_some_and(|number| number > 0));
        assert_eq!(of(first), of(second));
        assert_ne!(of(first), of(other));
        assert_eq!(of(first), incarnation_of("kuV+AP-3aHw="), "the id of the container");
        assert_eq!((of(""), of("kuV+AA=="), of("~")), (None, None, None));
        assert_eq!(of("AAAAAAAAAAABAAAAAAAAAA=="), Some(1));
    }
}
