//! Converts values to strings for tables and CSV, and strings from CSV and command lines to values.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, NaiveDate, NaiveDateTime, SecondsFormat, Utc};
use table_core::{EdmType, Value};

/// Converts a value to a string that [`read`] converts back to the same value.
///
/// ```
/// use table_core::{EdmType, Value};
/// use table_inspect::value;
///
/// let text = value::show(&Value::Double(0.1));
/// assert_eq!(value::read(EdmType::Double, &text), Ok(Value::Double(0.1)));
/// ```
#[must_use]
pub fn show(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Int32(number) => number.to_string(),
        Value::Int64(number) => number.to_string(),
        Value::Double(number) => match number {
            number if number.is_nan() => "NaN".to_owned(),
            number if number.is_infinite() && *number > 0.0 => "Infinity".to_owned(),
            number if number.is_infinite() => "-Infinity".to_owned(),
            number => number.to_string(),
        },
        Value::Boolean(truth) => truth.to_string(),
        Value::DateTime(instant) => instant.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        Value::Guid(guid) => guid.to_string(),
        Value::Binary(bytes) => STANDARD.encode(bytes),
    }
}

/// Parses a value of the given type.
///
/// # Errors
/// The expected format, for use in a message, if the text does not have this format.
pub fn read(edm: EdmType, text: &str) -> Result<Value, &'static str> {
    Ok(match edm {
        EdmType::String => Value::String(text.to_owned()),
        EdmType::Int32 => {
            Value::Int32(text.parse().map_err(|_| "a whole number from -2147483648 to 2147483647")?)
        }
        EdmType::Int64 => Value::Int64(text.parse().map_err(|_| "a whole number of 64 bits")?),
        EdmType::Double => Value::Double(text.parse().map_err(|_| "a number such as 1.5 or 2e10")?),
        EdmType::Boolean => Value::Boolean(match text {
            "true" | "True" | "TRUE" => true,
            "false" | "False" | "FALSE" => false,
            _ => return Err("true or false"),
        }),
        EdmType::DateTime => Value::DateTime(instant(text).ok_or("an instant such as 2026-11-25T13:00:00Z")?),
        EdmType::Guid => {
            Value::Guid(text.parse().map_err(|_| "a GUID such as 67e55044-10b1-426f-9247-bb680e5fe0c8")?)
        }
        EdmType::Binary => Value::Binary(STANDARD.decode(text).map_err(|_| "Base64")?),
    })
}

/// Guesses the type of a string without a declared type: an integer, a number, a Boolean, an instant or a GUID, or else a string.
///
/// A type is guessed only if the value would be written as the same text. Therefore, a phone number with `+`, a code such as `1E5`, `007` or `75-05-8`, and a
/// hash of 32 digits remain strings. Two exceptions apply: a fraction may end in zeros, and an instant may have an offset, be a date, or be a date and a
/// time.
#[must_use]
pub fn guess(text: &str) -> EdmType {
    const GUESSES: [EdmType; 6] =
        [EdmType::Int32, EdmType::Int64, EdmType::Double, EdmType::Boolean, EdmType::DateTime, EdmType::Guid];
    let fits = |edm: &EdmType| {
        read(*edm, text).is_ok_and(|value| match &value {
            Value::DateTime(_) => is_written_instant(text),
            Value::Double(number) if !number.is_finite() => false,
            Value::Double(_) if text.contains('.') && !text.ends_with('.') => {
                show(&value) == without_zeros(text)
            }
            Value::Boolean(_) | Value::Guid(_) => show(&value).eq_ignore_ascii_case(text),
            _ => show(&value) == text,
        })
    };
    GUESSES.into_iter().find(fits).unwrap_or(EdmType::String)
}

/// Returns `true` if the text is an RFC 3339 instant, a date, or a date and a time, and formatting the parsed value gives the same text. chrono also accepts
/// blanks, signs, and numbers with fewer digits, such as `75-05-8`.
fn is_written_instant(text: &str) -> bool {
    let whole = if text.contains('.') { without_zeros(text) } else { text };
    let without = |at: NaiveDateTime| without_zeros(&at.format("%Y-%m-%dT%H:%M:%S.%f").to_string()) == whole;
    text.starts_with(|first: char| first.is_ascii_digit())
        && (DateTime::parse_from_rfc3339(text).is_ok()
            || text.parse().is_ok_and(without)
            || text.parse().is_ok_and(|date: NaiveDate| date.format("%Y-%m-%d").to_string() == text))
}

/// Removes the trailing zeros from a decimal fraction.
fn without_zeros(fraction: &str) -> &str {
    fraction.trim_end_matches('0').trim_end_matches('.')
}

/// Returns the type with the given name. The prefix `Edm.` is optional, and case is ignored.
#[must_use]
pub fn type_of(name: &str) -> Option<EdmType> {
    EdmType::ALL.into_iter().find(|edm| {
        let (full, short) = (edm.name(), edm.name().trim_start_matches("Edm."));
        full.eq_ignore_ascii_case(name) || short.eq_ignore_ascii_case(name)
    })
}

/// Parses an instant. Without an offset, the time zone is UTC. A date is treated as midnight UTC.
fn instant(text: &str) -> Option<DateTime<Utc>> {
    let with_offset = DateTime::parse_from_rfc3339(text).ok().map(|instant| instant.to_utc());
    let without = || text.parse::<NaiveDateTime>().ok().map(|instant| instant.and_utc());
    let date = || text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0).map(|instant| instant.and_utc());
    with_offset.or_else(without).or_else(date)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            ".{0,20}".prop_map(Value::String),
            any::<i32>().prop_map(Value::Int32),
            any::<i64>().prop_map(Value::Int64),
            any::<f64>().prop_map(|number| Value::Double(if number.is_nan() { 0.5 } else { number })),
            any::<bool>().prop_map(Value::Boolean),
            (0..table_core::ticks::MAX)
                .prop_filter_map("in range", table_core::ticks::to_datetime)
                .prop_map(Value::DateTime),
            any::<u128>().prop_map(|bits| Value::Guid(uuid::Uuid::from_u128(bits))),
            prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::Binary),
        ]
    }

    proptest! {
        #[test]
        fn every_value_is_read_back_from_its_text(value in any_value()) {
            prop_assert_eq!(read(value.edm_type(), &show(&value)), Ok(value));
        }
    }

    #[test]
    fn a_type_is_guessed_from_the_text() {
        for (text, edm) in [
            ("36", EdmType::Int32),
            ("3000000000", EdmType::Int64),
            ("1.5", EdmType::Double),
            ("true", EdmType::Boolean),
            ("2026-11-25T13:00:00Z", EdmType::DateTime),
            ("67e55044-10b1-426f-9247-bb680e5fe0c8", EdmType::Guid),
            ("Jones", EdmType::String),
            ("007", EdmType::String),
            ("-7", EdmType::Int32),
            ("-0.50", EdmType::Double),
            ("2.0", EdmType::Double),
            ("True", EdmType::Boolean),
            ("2026-11-25", EdmType::DateTime),
            ("67E55044-10B1-426F-9247-BB680E5FE0C8", EdmType::Guid),
            ("+4915112345678", EdmType::String),
            ("1E5", EdmType::String),
            ("-007", EdmType::String),
            ("00.5", EdmType::String),
            ("1.", EdmType::String),
            ("d41d8cd98f00b204e9800998ecf8427e", EdmType::String),
            ("12345678901234567890123456789012", EdmType::String),
            ("NaN", EdmType::String),
            ("", EdmType::String),
            ("2026-11-25T13:00:00+01:00", EdmType::DateTime),
            ("2026-11-25T13:00:00", EdmType::DateTime),
            ("2026-11-25T13:00:00.50", EdmType::DateTime),
            ("2026-11-25T13:00:00.1234567", EdmType::DateTime),
            ("75-05-8", EdmType::String),
            ("108-05-4", EdmType::String),
            ("12-3-4", EdmType::String),
            ("2026-1-5", EdmType::String),
            (" 2026-01-05", EdmType::String),
            ("2026-01-05 ", EdmType::String),
            ("+12345-01-01", EdmType::String),
            ("-0001-01-01", EdmType::String),
            ("1-2-3T4:5:6", EdmType::String),
        ] {
            assert_eq!(guess(text), edm, "{text}");
        }
    }
}
