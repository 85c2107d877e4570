//! Values in the default format: JSON, with annotations for types that JSON lacks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Number, Value as Json};
use table_core::{Value, ValueRef, ticks};

use crate::exact::{MOST_EXACT, integer};
use crate::mapping::Format;

/// The names of the types that JSON lacks, as stored in the `t` member.
pub(crate) const INT64: &str = "Int64";
const DOUBLE: &str = "Double";
/// The type name for a double that JSON cannot represent: NaN, an infinity, or negative zero.
pub(crate) const SPECIAL: &str = "Special";
pub(crate) const DATE_TIME: &str = "DateTime";
pub(crate) const GUID: &str = "Guid";
const BINARY: &str = "Binary";

/// Returns a value as JSON. If JSON lacks the type of the value, also returns the type's name.
pub(crate) fn write_value(value: ValueRef<'_>) -> (Json, Option<&'static str>) {
    match value {
        ValueRef::String(text) => (text.into(), None),
        ValueRef::Int32(number) => (number.into(), None),
        ValueRef::Boolean(value) => (value.into(), None),
        ValueRef::Int64(number) if number.unsigned_abs() <= MOST_EXACT => (number.into(), Some(INT64)),
        ValueRef::Int64(number) => (number.to_string().into(), Some(INT64)),
        ValueRef::Double(number) => write_double(number),
        // In a checked row, the time is always within the range of the type (TYPE-6).
        ValueRef::DateTime(at) => {
            (ticks::to_datetime(at).map_or(Json::Null, |instant| date_time(instant).into()), Some(DATE_TIME))
        }
        ValueRef::Guid(guid) => (guid.hyphenated().to_string().into(), Some(GUID)),
        ValueRef::Binary(bytes) => (STANDARD.encode(bytes).into(), Some(BINARY)),
    }
}

/// Formats a time with seven fractional digits, so the strings sort chronologically.
fn date_time(instant: DateTime<Utc>) -> String {
    let nanos = instant.to_rfc3339_opts(SecondsFormat::Nanos, true);
    nanos.strip_suffix("00Z").map_or(nanos.clone(), |hundreds| format!("{hundreds}Z"))
}

fn write_double(number: f64) -> (Json, Option<&'static str>) {
    let special = match number {
        n if n.is_nan() => "NaN",
        f64::INFINITY => "INF",
        f64::NEG_INFINITY => "-INF",
        n if n == 0.0 && n.is_sign_negative() => "-0",
        n => return (Number::from_f64(n).into(), Some(DOUBLE)),
    };
    (special.into(), Some(SPECIAL))
}

/// Parses a JSON value of the given type. Returns `None` if the value is not in a format of that type.
///
/// An SQL filter must select every value that this function accepts. Dates, GUIDs and binary values are therefore accepted only in the formats of mapped
/// properties.
pub(super) fn read_value(json: &Json, edm: Option<&str>) -> Option<Value> {
    Some(match (edm, json) {
        (None, Json::String(text)) => Value::String(text.clone()),
        (None, Json::Bool(value)) => Value::Boolean(*value),
        // Some stored items omit the type of a double with a fraction.
        (None, Json::Number(number)) => match integer(json).and_then(|number| i32::try_from(number).ok()) {
            Some(number) => Value::Int32(number),
            None => Value::Double(number.as_f64()?),
        },
        (Some(INT64), Json::Number(_)) => Value::Int64(integer(json)?),
        (Some(INT64), Json::String(text)) => Value::Int64(text.parse().ok()?),
        (Some(DOUBLE), Json::Number(number)) => Value::Double(number.as_f64()?),
        (Some(SPECIAL), Json::String(text)) => Value::Double(match text.as_str() {
            "NaN" => f64::NAN,
            "INF" => f64::INFINITY,
            "-INF" => f64::NEG_INFINITY,
            "-0" => -0.0,
            _ => return None,
        }),
        (Some(DATE_TIME), json) => Format::DateTime.read(json)?,
        (Some(GUID), json) => Format::Guid.read(json)?,
        (Some(BINARY), json) => Format::Base64.read(json)?,
        _ => return None,
    })
}
