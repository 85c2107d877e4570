//! The JSON form of an item. The levels have fixed names by which the service can route, and no property collides with `id` or `_etag`.
//!
//! ```json
//! {"id": "RowKey", "l1": "contoso", "l2": "ada", "p": {"Age": 34, "Total": 12}, "t": {"Total": "Int64"}, "o": "…"}
//! ```
//!
//! `p` contains the properties, `t` contains the types that JSON lacks, and `o` contains the identifier of the last write (CON-11).

mod fault;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Number, Value as Json};
use table_core::limits::Limits;
use table_core::row::{Row, RowView, RowWriter};
use table_core::{ETag, Error, ErrorCode, PartitionKey, Result, RowKey, Value, ValueRef, ticks};
use uuid::Uuid;

use crate::key;
use fault::{Foreign, ForeignItem};

/// Types that JSON lacks, as named in `t`.
pub(crate) const INT64: &str = "Int64";
/// The limit below which JSON numbers of the service are exact integers: 2^53. Larger integers are stored as strings.
pub(crate) const MOST_EXACT: u64 = 1 << 53;
const DOUBLE: &str = "Double";
/// A double that JSON cannot represent: NaN, an infinity, or negative zero.
pub(crate) const SPECIAL: &str = "Special";
pub(crate) const DATE_TIME: &str = "DateTime";
pub(crate) const GUID: &str = "Guid";
const BINARY: &str = "Binary";

/// An item that contains an entity.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) levels: Vec<String>,
    pub(crate) partition_key: String,
    pub(crate) row_key: String,
    pub(crate) row: Row,
    pub(crate) etag: ETag,
}

/// A stored document with its ETag. It may not have been written by this library.
#[derive(Debug)]
pub(crate) struct Found {
    json: Json,
    pub(crate) etag: ETag,
}

impl Found {
    /// Creates a document from its JSON.
    ///
    /// # Errors
    /// `Corrupted` if the document has no ETag.
    pub(crate) fn new(json: Json) -> Result<Self> {
        let tag = json.get("_etag").and_then(Json::as_str).and_then(|tag| etag(tag).ok());
        let id = || json.get("id").and_then(Json::as_str).unwrap_or_default().to_owned();
        let etag = tag.ok_or_else(|| Error::of(ForeignItem { id: id(), what: Foreign::System }))?;
        Ok(Self { json, etag })
    }

    /// Returns the RowKey of the document.
    pub(crate) fn row_key(&self) -> &str {
        self.json.get("id").and_then(Json::as_str).map(key::row_key).unwrap_or_default()
    }

    /// Returns the entity of the document.
    ///
    /// # Errors
    /// `Corrupted` if another program wrote it. `InternalError` if its key differs from the requested key (RT-5).
    pub(crate) fn read(&self, levels: &[String], row_key: &str) -> Result<Item> {
        let item = read(&self.json, levels.len())?;
        if item.levels != levels || item.row_key != row_key {
            return Err(item.unexpected());
        }
        Ok(item)
    }

    /// Returns the identifier of the write that stored the document.
    pub(crate) fn written_by(&self) -> Option<&str> {
        written_by(&self.json)
    }

    /// Returns the ETag in the form of requests.
    pub(crate) fn sent_etag(&self) -> String {
        sent_etag(&self.etag)
    }
}

impl Item {
    /// Returns the error for an item whose levels differ from the requested ones. Such an item is never part of a result (RT-5, RT-6).
    pub(crate) fn unexpected(&self) -> Error {
        let message = "the service returned an item of another partition key; the response was discarded";
        Error::new(ErrorCode::InternalError, message)
            .with_rule("RT-5")
            .with_key(self.partition_key.as_str(), self.row_key.as_str())
    }
}

/// Returns the item of an entity.
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

/// The property names of the levels.
pub(crate) const NAMES: [&str; 3] = ["l1", "l2", "l3"];

/// Returns a value as JSON, together with its type if JSON lacks it.
pub(crate) fn write_value(value: ValueRef<'_>) -> (Json, Option<&'static str>) {
    match value {
        ValueRef::String(text) => (text.into(), None),
        ValueRef::Int32(number) => (number.into(), None),
        ValueRef::Boolean(value) => (value.into(), None),
        ValueRef::Int64(number) if number.unsigned_abs() <= MOST_EXACT => (number.into(), Some(INT64)),
        ValueRef::Int64(number) => (number.to_string().into(), Some(INT64)),
        ValueRef::Double(number) => write_double(number),
        // An instant in a checked row is never outside the range of the type (TYPE-6).
        ValueRef::DateTime(at) => {
            (ticks::to_datetime(at).map_or(Json::Null, |instant| date_time(instant).into()), Some(DATE_TIME))
        }
        ValueRef::Guid(guid) => (guid.hyphenated().to_string().into(), Some(GUID)),
        ValueRef::Binary(bytes) => (STANDARD.encode(bytes).into(), Some(BINARY)),
    }
}

/// Formats an instant with seven fractional digits. The resulting strings sort like the instants.
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
        // A number with a fraction is read back as a double without a type annotation.
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
        (Some(INT64), Json::Number(number)) => Value::Int64(number.as_i64()?),
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

/// Returns the entity of an item.
///
/// # Errors
/// `Corrupted`, with the readable part of the key, if another program wrote the item. Such an item lacks a level or has an additional one (WIRE-6),
/// has an invalid key, or has a value that does not match its type.
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
    // A level that contains the terminator of levels would be read as two levels.
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
    Ok(Item { partition_key, levels, row_key: row_key.to_owned(), row: row.with_timestamp(timestamp), etag })
}

/// Returns the identifier of the write that stored an item. Items of other programs have none.
pub(crate) fn written_by(json: &Json) -> Option<&str> {
    json.get("o").and_then(Json::as_str)
}

/// Returns the weak ETag of a table entity for the service's ETag `"x"`.
pub(crate) fn etag(text: &str) -> Result<ETag> {
    ETag::parse(&format!("W/{text}"))
}

/// Returns an ETag in the form of the service. An ETag of another store is sent unchanged and matches no item.
pub(crate) fn sent_etag(etag: &ETag) -> String {
    let text = etag.to_string();
    text.strip_prefix("W/").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests;
