//! The form of an item: plain, with fixed names, so that the service prunes by its levels and no property meets `id` or `_etag`.
//!
//! ```json
//! {"id": "RowKey", "l1": "contoso", "l2": "ada", "p": {"Age": 34, "Total": "12"}, "t": {"Total": "Int64"}, "o": "…"}
//! ```
//!
//! `p` holds the properties, `t` the types that JSON loses, `o` the identifier of the write (CON-11).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Number, Value as Json};
use table_core::row::{Row, RowView, RowWriter};
use table_core::{ETag, Error, ErrorCode, Result, Value, ValueRef, ticks};
use uuid::Uuid;

use crate::key;

/// Types that JSON loses, as `t` names them.
pub(crate) const INT64: &str = "Int64";
const DOUBLE: &str = "Double";
/// A double that JSON has no number for: NaN, the infinities, the negative zero.
pub(crate) const SPECIAL: &str = "Special";
const DATE_TIME: &str = "DateTime";
const GUID: &str = "Guid";
const BINARY: &str = "Binary";

/// An item as it was read.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) levels: Vec<String>,
    pub(crate) partition_key: String,
    pub(crate) row_key: String,
    pub(crate) row: Row,
    pub(crate) etag: ETag,
    /// The identifier of the write that stored it.
    pub(crate) written_by: Option<String>,
}

/// The item of an entity.
pub(crate) fn write(levels: &[String], row_key: &str, row: RowView<'_>, write: &str) -> Result<Json> {
    let (mut properties, mut types) = (Map::new(), Map::new());
    for property in row.properties() {
        let property = property?;
        let (json, edm) = write_value(property.value);
        properties.insert(property.name.to_owned(), json);
        if let Some(edm) = edm {
            types.insert(property.name.to_owned(), edm.into());
        }
    }
    let mut item = Map::new();
    item.insert("id".into(), key::id(row_key).into());
    for (name, level) in NAMES.iter().zip(levels) {
        item.insert((*name).into(), level.as_str().into());
    }
    item.insert("p".into(), properties.into());
    if !types.is_empty() {
        item.insert("t".into(), types.into());
    }
    item.insert("o".into(), write.into());
    Ok(item.into())
}

/// The names of the levels.
pub(crate) const NAMES: [&str; 3] = ["l1", "l2", "l3"];

fn write_value(value: ValueRef<'_>) -> (Json, Option<&'static str>) {
    match value {
        ValueRef::String(text) => (text.into(), None),
        ValueRef::Int32(number) => (number.into(), None),
        ValueRef::Boolean(value) => (value.into(), None),
        ValueRef::Int64(number) => (number.to_string().into(), Some(INT64)),
        ValueRef::Double(number) => write_double(number),
        // A row that was checked holds no instant outside of the type (TYPE-6).
        ValueRef::DateTime(at) => {
            (ticks::to_datetime(at).map_or(Json::Null, |instant| date_time(instant).into()), Some(DATE_TIME))
        }
        ValueRef::Guid(guid) => (guid.hyphenated().to_string().into(), Some(GUID)),
        ValueRef::Binary(bytes) => (STANDARD.encode(bytes).into(), Some(BINARY)),
    }
}

/// With seven digits of a second, so that texts are in the order of instants.
pub(crate) fn date_time(instant: DateTime<Utc>) -> String {
    let nanos = instant.to_rfc3339_opts(SecondsFormat::Nanos, true);
    nanos.strip_suffix("00Z").map_or(nanos.clone(), |hundreds| format!("{hundreds}Z"))
}

fn write_double(number: f64) -> (Json, Option<&'static str>) {
    let special = match number {
        n if n.is_nan() => "NaN",
        f64::INFINITY => "INF",
        f64::NEG_INFINITY => "-INF",
        n if n == 0.0 && n.is_sign_negative() => "-0",
        // One with a fraction is read back as a double without being told.
        n => return (Number::from_f64(n).into(), (n.fract() == 0.0).then_some(DOUBLE)),
    };
    (special.into(), Some(SPECIAL))
}

fn read_value(json: &Json, edm: Option<&str>) -> Option<Value> {
    Some(match (edm, json) {
        (None, Json::String(text)) => Value::String(text.clone()),
        (None, Json::Bool(value)) => Value::Boolean(*value),
        (None, Json::Number(number)) => match number.as_i64() {
            Some(number) => Value::Int32(i32::try_from(number).ok()?),
            None => Value::Double(number.as_f64()?),
        },
        (Some(DOUBLE), Json::Number(number)) => Value::Double(number.as_f64()?),
        (Some(edm), Json::String(text)) => match edm {
            INT64 => Value::Int64(text.parse().ok()?),
            SPECIAL => Value::Double(match text.as_str() {
                "NaN" => f64::NAN,
                "INF" => f64::INFINITY,
                "-INF" => f64::NEG_INFINITY,
                "-0" => -0.0,
                _ => return None,
            }),
            DATE_TIME => Value::DateTime(text.parse().ok()?),
            GUID => Value::Guid(Uuid::try_parse(text).ok()?),
            BINARY => Value::Binary(STANDARD.decode(text).ok()?),
            _ => return None,
        },
        _ => return None,
    })
}

/// The entity of an item.
///
/// # Errors
/// `Corrupted` for what is none of ours: a level missing or too many (WIRE-6), a value that its type does not have.
pub(crate) fn read(json: &Json, depth: usize) -> Result<Item> {
    parse(json, depth).ok_or_else(|| {
        let id = json.get("id").and_then(Json::as_str).unwrap_or_default();
        let message = format!(
            "the item `{id}` is not of this library's form: another program wrote it, or levels are missing"
        );
        Error::new(ErrorCode::Corrupted, message)
    })
}

fn parse(json: &Json, depth: usize) -> Option<Item> {
    let row_key = key::row_key(json.get("id")?.as_str()?);
    let levels: Option<Vec<String>> =
        NAMES.iter().take(depth).map(|name| json.get(name)?.as_str().map(str::to_owned)).collect();
    let levels = levels.filter(|_| NAMES.iter().skip(depth).all(|name| json.get(name).is_none()))?;
    let properties = json.get("p")?.as_object()?;
    let types = json.get("t");
    let mut writer = RowWriter::with_capacity(properties.len());
    for (name, value) in properties {
        let edm = types.and_then(|types| types.get(name)).map(|edm| edm.as_str().unwrap_or_default());
        writer.property(name, read_value(value, edm)?.as_ref());
    }
    let seconds = json.get("_ts")?.as_u64()?;
    let timestamp = ticks::UNIX_EPOCH.checked_add(seconds.checked_mul(10_000_000)?)?;
    Some(Item {
        partition_key: key::join(&levels),
        levels,
        row_key: row_key.to_owned(),
        row: writer.finish().with_timestamp(timestamp),
        etag: etag(json.get("_etag")?.as_str()?).ok()?,
        written_by: json.get("o").and_then(Json::as_str).map(str::to_owned),
    })
}

/// The service's `"x"` as the weak tag that tables have.
pub(crate) fn etag(text: &str) -> Result<ETag> {
    ETag::parse(&format!("W/{text}"))
}

/// A weak tag as the service gave it; one that it cannot have given is one that no item has.
pub(crate) fn sent_etag(etag: &ETag) -> String {
    let text = etag.to_string();
    text.strip_prefix("W/").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
        fn type_1_and_wire_6_what_is_written_is_read(
            properties in prop::collection::btree_map("[A-Za-z_][A-Za-z0-9_]{0,8}", value(), 0..6),
            levels in prop::collection::vec("[a-z]{0,3}", 1..4),
        ) {
            let mut writer = RowWriter::new();
            for (name, value) in &properties {
                writer.property(name, value.as_ref());
            }
            let row = writer.finish();
            let text = write(&levels, "r", row.view(), "w").unwrap().to_string();
            let mut json: Json = serde_json::from_str(&text).unwrap();
            prop_assert!(parse(&json, levels.len()).is_none(), "without _ts and _etag it is no answer");
            json["_ts"] = 1_600_000_000.into();
            json["_etag"] = "\"7\"".into();
            let item = read(&json, levels.len()).unwrap();
            prop_assert_eq!(&item.levels, &levels);
            prop_assert_eq!((item.row_key.as_str(), item.written_by.as_deref()), ("r", Some("w")));
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
                prop_assert!(super::read(&json, depth).is_err());
            }
        }
    }
}
