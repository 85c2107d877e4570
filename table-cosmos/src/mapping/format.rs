//! The JSON formats of mapped properties.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Number, Value as Json};
use table_core::{EdmType, Value, ValueRef, ticks};
use uuid::Uuid;

use crate::exact::{MOST_EXACT, integer};

/// The number of ticks in a second.
const SECOND: u64 = 10_000_000;
const MILLISECOND: u64 = 10_000;

/// The JSON format of a property in a [`Mapping`](crate::Mapping).
///
/// An item is not an entity if a value has a different format. Queries skip and report such an item. A write fails if the format cannot represent a value
/// exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `Edm.String` as a JSON string.
    Text,
    /// `Edm.Int32` as a JSON number.
    Int32,
    /// `Edm.Int64` as a JSON number. The magnitude is at most 2^53, because the service stores numbers as doubles.
    Int64,
    /// `Edm.Int64` as a string of digits, such as `"9007199254740993"`.
    Int64Text,
    /// `Edm.Double` as a JSON number. NaN and infinities cannot be written, because JSON lacks them. `-0.0` cannot be written, because the service stores it as
    /// `0`.
    Double,
    /// `Edm.Boolean` as `true` or `false`.
    Boolean,
    /// `Edm.DateTime` as an RFC 3339 string in UTC, such as `"2026-11-26T08:00:00.5Z"`. Strings that end with `+00:00` can also be read.
    DateTime,
    /// `Edm.DateTime` as an integer: the number of seconds since 1970.
    UnixSeconds,
    /// `Edm.DateTime` as an integer: the number of milliseconds since 1970.
    UnixMilliseconds,
    /// `Edm.Guid` as a string in lower case with hyphens.
    Guid,
    /// `Edm.Binary` as a base64 string with padding.
    Base64,
    /// `Edm.Int32` as the service's `ttl` member. The value is -1 if the item never expires. Otherwise, it is the number of seconds from the last write until
    /// the expiry, and is at least 1.
    TimeToLive,
}

impl Format {
    /// Returns the property type represented by this format.
    #[must_use]
    pub const fn edm_type(self) -> EdmType {
        match self {
            Self::Text => EdmType::String,
            Self::Int32 | Self::TimeToLive => EdmType::Int32,
            Self::Int64 | Self::Int64Text => EdmType::Int64,
            Self::Double => EdmType::Double,
            Self::Boolean => EdmType::Boolean,
            Self::DateTime | Self::UnixSeconds | Self::UnixMilliseconds => EdmType::DateTime,
            Self::Guid => EdmType::Guid,
            Self::Base64 => EdmType::Binary,
        }
    }

    /// Returns a value as JSON. Returns `None` if the value has the wrong type, or if the format cannot represent it exactly.
    pub(crate) fn write(self, value: ValueRef<'_>) -> Option<Json> {
        Some(match (self, value) {
            (Self::Text, ValueRef::String(text)) => text.into(),
            (Self::Int32, ValueRef::Int32(number)) => number.into(),
            (Self::TimeToLive, ValueRef::Int32(number)) if number == -1 || number > 0 => number.into(),
            (Self::Int64, ValueRef::Int64(number)) if number.unsigned_abs() <= MOST_EXACT => number.into(),
            (Self::Int64Text, ValueRef::Int64(number)) => number.to_string().into(),
            (Self::Double, ValueRef::Double(number)) => stored_exactly(number)?.into(),
            (Self::Boolean, ValueRef::Boolean(value)) => value.into(),
            (Self::DateTime, ValueRef::DateTime(at)) => ticks::write(at)?.into(),
            (Self::UnixSeconds, ValueRef::DateTime(at)) => since_1970(at, SECOND)?.into(),
            (Self::UnixMilliseconds, ValueRef::DateTime(at)) => since_1970(at, MILLISECOND)?.into(),
            (Self::Guid, ValueRef::Guid(guid)) => guid.hyphenated().to_string().into(),
            (Self::Base64, ValueRef::Binary(bytes)) => STANDARD.encode(bytes).into(),
            _ => return None,
        })
    }

    /// Converts a JSON value to a property value, or returns `None` if it is not in this format.
    pub(crate) fn read(self, json: &Json) -> Option<Value> {
        Some(match (self, json) {
            (Self::Text, Json::String(text)) => Value::String(text.clone()),
            (Self::Int32, json) => Value::Int32(i32::try_from(integer(json)?).ok()?),
            (Self::TimeToLive, json) => {
                let seconds = i32::try_from(integer(json)?).ok()?;
                (seconds == -1 || seconds > 0).then_some(Value::Int32(seconds))?
            }
            (Self::Int64, json) => Value::Int64(integer(json)?),
            (Self::Int64Text, Json::String(text)) => {
                let number: i64 = text.parse().ok()?;
                // Only one spelling of each number is accepted, so `+1` and `01` are rejected.
                (number.to_string() == *text).then_some(Value::Int64(number))?
            }
            (Self::Double, Json::Number(number)) => Value::Double(number.as_f64()?),
            (Self::Boolean, Json::Bool(value)) => Value::Boolean(*value),
            (Self::DateTime, Json::String(text)) => instant(read_utc(text)?)?,
            (Self::UnixSeconds, json) => from_1970(json, SECOND)?,
            (Self::UnixMilliseconds, json) => from_1970(json, MILLISECOND)?,
            (Self::Guid, Json::String(text)) => {
                let guid = Uuid::try_parse(text).ok()?;
                (guid.hyphenated().to_string() == *text).then_some(Value::Guid(guid))?
            }
            (Self::Base64, Json::String(text)) => Value::Binary(STANDARD.decode(text).ok()?),
            _ => return None,
        })
    }
}

/// Returns a double as a JSON number. Returns `None` if the service would not store the number exactly.
fn stored_exactly(number: f64) -> Option<Number> {
    let is_negative_zero = number == 0.0 && number.is_sign_negative();
    if is_negative_zero { None } else { Number::from_f64(number) }
}

/// Returns the time since 1970 in the given unit. Returns `None` if it is not a whole number of units.
fn since_1970(ticks: u64, unit: u64) -> Option<i64> {
    let passed = i64::try_from(ticks).ok()?.checked_sub(i64::try_from(ticks::UNIX_EPOCH).ok()?)?;
    let unit = i64::try_from(unit).ok()?;
    (passed.checked_rem(unit)? == 0).then(|| passed.div_euclid(unit))
}

fn from_1970(json: &Json, unit: u64) -> Option<Value> {
    let passed = integer(json)?.checked_mul(i64::try_from(unit).ok()?)?;
    instant(ticks::UNIX_EPOCH.checked_add_signed(passed)?)
}

fn instant(ticks: u64) -> Option<Value> {
    (ticks::EDM_MIN..=ticks::MAX).contains(&ticks).then(|| ticks::to_datetime(ticks))?.map(Value::DateTime)
}

/// Parses an RFC 3339 string in UTC.
///
/// The first 19 characters must have a fixed format. The strings therefore sort chronologically, with a precision of one second.
fn read_utc(text: &str) -> Option<u64> {
    let fraction = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00"))?.get(19..)?;
    let is_fraction = fraction.is_empty()
        || fraction
            .strip_prefix('.')
            .is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
    is_fraction.then(|| ticks::read(text)).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a number as the service stores it: as a double, with negative zero converted to zero.
    fn stored(json: Json) -> Json {
        match json.as_f64().and_then(|number| Number::from_f64(number + 0.0)) {
            Some(number) if json.is_number() => number.into(),
            _ => json,
        }
    }

    proptest! {
        #[test]
        fn a_written_value_is_read_back_from_the_numbers_that_the_service_stores(
            double in prop_oneof![Just(-0.0), Just(0.0), Just(f64::NAN), any::<f64>()],
            integer in prop_oneof![any::<i64>(), -(1_i64 << 54)..1 << 54],
        ) {
            let values = [
                (Format::Double, Value::Double(double)),
                (Format::Int64, Value::Int64(integer)),
                (Format::Int64Text, Value::Int64(integer)),
            ];
            for (format, value) in values {
                let Some(json) = format.write(value.as_ref()) else { continue };
                let read = format.read(&stored(json));
                let bits = |value: &Value| match value {
                    Value::Double(number) => Value::Int64(number.to_bits().cast_signed()),
                    other => other.clone(),
                };
                prop_assert_eq!(read.as_ref().map(bits), Some(bits(&value)));
            }
        }
    }

    #[test]
    fn a_value_has_one_text_in_its_format() {
        let cases: [(Format, &str, &[&str]); 9] = [
            (Format::Int32, "34", &["\"34\"", "34.5", "2147483648", "null"]),
            (Format::Int64, "9007199254740992", &["9007199254740993", "\"1\"", "1.5"]),
            (
                Format::Int64Text,
                "\"-9007199254740993\"",
                &["\"+1\"", "\"01\"", "1", "\"9223372036854775808\""],
            ),
            (Format::Boolean, "true", &["1", "\"true\""]),
            (
                Format::DateTime,
                "\"2026-11-26T08:00:00.5Z\"",
                &[
                    "\"2026-11-26\"",
                    "\"2026-11-26T08:00Z\"",
                    "\"2026-11-26T08:00:00+01:00\"",
                    "\"0001-01-01T00:00:00Z\"",
                    "1",
                ],
            ),
            (Format::UnixSeconds, "-1", &["1.5", "\"1\"", "99999999999999"]),
            (
                Format::Guid,
                "\"6f2a9c1e-7a7e-4a1c-9d6c-0123456789ab\"",
                &["\"6F2A9C1E-7A7E-4A1C-9D6C-0123456789AB\"", "\"{6f2a9c1e-7a7e-4a1c-9d6c-0123456789ab}\""],
            ),
            (Format::Base64, "\"YQ==\"", &["\"YQ\"", "\"YR==\"", "\"!\""]),
            (Format::TimeToLive, "60", &["0", "-2", "\"60\""]),
        ];
        for (format, text, others) in cases {
            let json: Json = serde_json::from_str(text).unwrap();
            let value = format.read(&json).unwrap_or_else(|| panic!("{format:?} of {text}"));
            assert_eq!(value.edm_type(), format.edm_type());
            assert_eq!(format.write(value.as_ref()), Some(json));
            for other in others {
                let json: Json = serde_json::from_str(other).unwrap();
                assert_eq!(format.read(&json), None, "{format:?} of {other}");
            }
        }
        for (format, text) in
            [(Format::Int32, "34.0"), (Format::Int64, "3.4e1"), (Format::TimeToLive, "60.0")]
        {
            let json: Json = serde_json::from_str(text).unwrap();
            assert_eq!(format.read(&json).map(|value| value.edm_type()), Some(format.edm_type()), "{text}");
        }
        let same = ["2026-11-26T08:00:00Z", "2026-11-26T08:00:00.000Z", "2026-11-26T08:00:00+00:00"];
        let read = same.map(|text| Format::DateTime.read(&text.into()).unwrap());
        assert!(read.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn a_value_without_an_exact_form_is_not_written() {
        let half = ticks::UNIX_EPOCH + SECOND / 2;
        for (format, value) in [
            (Format::Int64, ValueRef::Int64(9_007_199_254_740_993)),
            (Format::Double, ValueRef::Double(f64::NAN)),
            (Format::Double, ValueRef::Double(-0.0)),
            (Format::UnixSeconds, ValueRef::DateTime(half)),
            (Format::UnixMilliseconds, ValueRef::DateTime(half + 1)),
            (Format::TimeToLive, ValueRef::Int32(0)),
            (Format::Int32, ValueRef::Int64(1)),
            (Format::Text, ValueRef::Int32(1)),
        ] {
            assert_eq!(format.write(value), None, "{format:?}");
        }
        assert_eq!(Format::UnixMilliseconds.write(ValueRef::DateTime(half)), Some(500.into()));
    }
}
