//! The form of an item: plain, with fixed names, so that the service prunes by its levels and no property meets `id` or `_etag`.
//!
//! ```json
//! {"id": "RowKey", "l1": "contoso", "l2": "ada", "p": {"Age": 34, "Total": "12"}, "t": {"Total": "Int64"}, "o": "…"}
//! ```
//!
//! `p` holds the properties, `t` the types that JSON loses, `o` the identifier of the write (CON-11).

mod fault;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Number, Value as Json};
use table_core::limits::Limits;
use table_core::row::{Row, RowView, RowWriter};
use table_core::{ETag, Error, PartitionKey, Result, RowKey, Value, ValueRef, ticks};
use uuid::Uuid;

use crate::key;
use fault::{Foreign, ForeignItem};

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
/// `Corrupted`, with the key as far as it can be read, for what another program wrote: a level missing or too many (WIRE-6), a key that no
/// entity has, a value that its type does not have.
pub(crate) fn read(json: &Json, depth: usize) -> Result<Item> {
    parse(json, depth).map_err(|what| {
        let text = |name: &str| json.get(name).and_then(Json::as_str);
        let id = text("id").unwrap_or_default();
        let levels: Vec<String> =
            NAMES.iter().take(depth).map_while(|name| text(name).map(str::to_owned)).collect();
        Error::of(ForeignItem { id: id.to_owned(), what }).with_key(key::join(&levels), key::row_key(id))
    })
}

fn parse(json: &Json, depth: usize) -> Result<Item, Foreign> {
    let id = json.get("id").and_then(Json::as_str).ok_or(Foreign::Id)?;
    let row_key = key::row_key(id);
    if key::id(row_key) != id || RowKey::new(row_key).is_err() || key::check_id(row_key).is_err() {
        return Err(Foreign::Id);
    }
    let levels: Option<Vec<String>> =
        NAMES.iter().take(depth).map(|name| json.get(name)?.as_str().map(str::to_owned)).collect();
    let levels = levels
        .filter(|_| NAMES.iter().skip(depth).all(|name| json.get(name).is_none()))
        .ok_or(Foreign::Levels(depth))?;
    let partition_key = key::join(&levels);
    // A level that holds the sign that ends one would be read as two.
    if key::levels(&partition_key, depth).as_ref() != Some(&levels)
        || PartitionKey::new(&*partition_key).is_err()
    {
        return Err(Foreign::Levels(depth));
    }
    let properties = json.get("p").and_then(Json::as_object).ok_or(Foreign::Properties)?;
    let types = json.get("t");
    let mut writer = RowWriter::with_capacity(properties.len());
    for (name, value) in properties {
        let edm = types.and_then(|types| types.get(name)).map(|edm| edm.as_str().unwrap_or_default());
        let value = read_value(value, edm).ok_or_else(|| Foreign::Value(name.clone()))?;
        writer.property(name, value.as_ref());
    }
    let row = writer.finish();
    Limits::PORTABLE.check_row(row.view()).map_err(|_| Foreign::Properties)?;
    let ticks = |seconds: u64| ticks::UNIX_EPOCH.checked_add(seconds.checked_mul(10_000_000)?);
    let timestamp = json.get("_ts").and_then(Json::as_u64).and_then(ticks).ok_or(Foreign::System)?;
    let etag =
        json.get("_etag").and_then(Json::as_str).and_then(|tag| etag(tag).ok()).ok_or(Foreign::System)?;
    Ok(Item {
        partition_key,
        levels,
        row_key: row_key.to_owned(),
        row: row.with_timestamp(timestamp),
        etag,
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
mod tests;
