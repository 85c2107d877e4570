//! The representations of property values in Parquet columns.

use chrono::{DateTime, Utc};
use table_core::{EdmType, Value, ticks};

/// The form of a column, which is the representation of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A type that has only one representation.
    Plain(EdmType),
    /// Times in nanoseconds since 1970.
    Nanos,
    /// Times in microseconds since 1970.
    Micros,
    /// Times in units of 100 ns since the year 1.
    Ticks,
}

impl Form {
    /// Returns the type of the represented values.
    pub(super) const fn edm_type(self) -> EdmType {
        match self {
            Self::Plain(edm) => edm,
            Self::Nanos | Self::Micros | Self::Ticks => EdmType::DateTime,
        }
    }

    /// Returns the suffix that a column's name has unless the column is named exactly like its property.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Ticks => TICKS,
            other => other.edm_type().name().trim_start_matches("Edm."),
        }
    }

    /// Encodes a value in this representation. Returns `None` if the representation cannot express the value.
    pub(super) fn encode(self, value: &Value) -> Option<Cell<'_>> {
        Some(match (self, value) {
            (Self::Plain(EdmType::String), Value::String(text)) => Cell::Bytes(text.as_bytes()),
            (Self::Plain(EdmType::Binary), Value::Binary(bytes)) => Cell::Bytes(bytes),
            (Self::Plain(EdmType::Guid), Value::Guid(guid)) => Cell::Fixed(guid.as_bytes()),
            (Self::Plain(EdmType::Int32), Value::Int32(number)) => Cell::Int32(*number),
            (Self::Plain(EdmType::Int64), Value::Int64(number)) => Cell::Int64(*number),
            (Self::Plain(EdmType::Double), Value::Double(number)) => Cell::Double(*number),
            (Self::Plain(EdmType::Boolean), Value::Boolean(truth)) => Cell::Boolean(*truth),
            (Self::Nanos, Value::DateTime(instant)) => Cell::Int64(nanos(*instant)?),
            (Self::Micros, Value::DateTime(instant)) => Cell::Int64(micros(*instant)?),
            (Self::Ticks, Value::DateTime(instant)) => {
                Cell::Int64(ticks::from_datetime(*instant)?.try_into().ok()?)
            }
            _ => return None,
        })
    }
}

/// The suffix of a column with times in units of 100 ns.
pub(super) const TICKS: &str = "ticks";

/// A value that can be stored in a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Bytes(&'a [u8]),
    Fixed(&'a [u8; 16]),
    Int32(i32),
    Int64(i64),
    Double(f64),
    Boolean(bool),
}

/// Returns a time in nanoseconds since 1970 (a multiple of 100), or `None` if the time is outside the years 1678 to 2261.
pub(super) fn nanos(instant: DateTime<Utc>) -> Option<i64> {
    since_1970(instant)?.checked_mul(100)
}

/// Returns a time in microseconds since 1970, or `None` if the time is not a whole number of microseconds.
pub(super) fn micros(instant: DateTime<Utc>) -> Option<i64> {
    let ticks = since_1970(instant)?;
    (ticks % 10 == 0).then_some(ticks / 10)
}

fn since_1970(instant: DateTime<Utc>) -> Option<i64> {
    let ticks = ticks::from_datetime(instant)?;
    i64::try_from(ticks).ok()?.checked_sub_unsigned(ticks::UNIX_EPOCH)
}

/// Returns the time that is `count` units after the start of 1970, where `per_second` is the number of units per second. The time is truncated to a multiple of
/// 100 ns.
pub(super) fn instant(count: i64, per_second: i64) -> Option<DateTime<Utc>> {
    let (seconds, rest) = (count.div_euclid(per_second), count.rem_euclid(per_second));
    let fraction = i128::from(rest) * 10_000_000 / i128::from(per_second);
    let ticks = i128::from(seconds) * 10_000_000 + fraction + i128::from(ticks::UNIX_EPOCH);
    ticks::to_datetime(u64::try_from(ticks).ok()?)
}
