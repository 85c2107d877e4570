//! Conversion between values and text, for tables, CSV and command lines.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, NaiveDate, NaiveDateTime, SecondsFormat, Utc};
use table_core::{EdmType, TableEntity, Value};

/// Formats a value as text that [`read`] parses to the same value.
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

/// Parses text as a value of the given type.
///
/// # Errors
/// If the text does not have the expected format, a description of that format, for use in a message.
pub fn read(edm: EdmType, text: &str) -> Result<Value, &'static str> {
    Ok(match edm {
        EdmType::String => Value::String(text.to_owned()),
        EdmType::Int32 => {
            Value::Int32(text.parse().map_err(|_| "a whole number from -2147483648 to 2147483647")?)
        }
        EdmType::Int64 => Value::Int64(text.parse().map_err(|_| "a whole number of 64 bits")?),
        EdmType::Double => Value::Double(double(text).ok_or("a 64-bit number such as 1.5 or 2e10")?),
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

/// Guesses the type of a text: an integer, a Double, a Boolean, a timestamp or a GUID. If none of these fits, the type is a string.
///
/// A type is guessed only if the stored value would be shown as the same text. For this reason, a phone number with `+`, a code such as `1E5`, `007` or
/// `75-05-8`, and a hash of 32 digits remain strings. A timestamp in nanoseconds or before the year 1601 also remains a string.
///
/// Three exceptions apply:
/// - A fraction may end in zeros.
/// - A timestamp may have an offset, or be a date with or without a time.
/// - Case is ignored in Booleans and GUIDs.
#[must_use]
pub fn guess(text: &str) -> EdmType {
    const GUESSES: [EdmType; 6] =
        [EdmType::Int32, EdmType::Int64, EdmType::Double, EdmType::Boolean, EdmType::DateTime, EdmType::Guid];
    let fits = |edm: &EdmType| {
        read(*edm, text).ok().and_then(stored).is_some_and(|value| match &value {
            Value::DateTime(instant) => is_written(instant, text),
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

/// Returns the value in the form in which a property stores it. Returns `None` if a property cannot store it.
fn stored(value: Value) -> Option<Value> {
    const NAME: &str = "Value";
    let row = TableEntity::new("", "").ok()?.with(NAME, value).to_row().ok()?;
    let kept = row.view().find(NAME, &mut 0).ok()??;
    Some(kept.to_owned())
}

/// Returns `true` if the text is an RFC 3339 timestamp, a date, or a date and a time. Formatting the timestamp in the same form must yield the same text.
///
/// The check is necessary because chrono also accepts blanks, signs, numbers with missing digits, such as `75-05-8`, and more fractional digits than it keeps.
fn is_written(instant: &DateTime<Utc>, text: &str) -> bool {
    let local = |at: NaiveDateTime, text: &str| {
        let text = if text.contains('.') { without_zeros(text) } else { text };
        without_zeros(&at.format("%Y-%m-%dT%H:%M:%S.%f").to_string()) == text
    };
    match DateTime::parse_from_rfc3339(text) {
        Ok(parsed) => {
            let zone = text.rfind(['Z', 'z', '+', '-']).and_then(|end| text.get(..end));
            let at = instant.with_timezone(parsed.offset()).naive_local();
            zone.is_some_and(|text| local(at, &text.replace(['t', ' '], "T")))
        }
        Err(_) => local(instant.naive_utc(), text) || instant.format("%Y-%m-%d").to_string() == text,
    }
}

/// Removes the trailing zeros from a decimal fraction.
fn without_zeros(fraction: &str) -> &str {
    fraction.trim_end_matches('0').trim_end_matches('.')
}

/// Returns the type with the given name, ignoring case. The prefix `Edm.` is optional.
#[must_use]
pub fn type_of(name: &str) -> Option<EdmType> {
    EdmType::ALL.into_iter().find(|edm| {
        let (full, short) = (edm.name(), edm.name().trim_start_matches("Edm."));
        full.eq_ignore_ascii_case(name) || short.eq_ignore_ascii_case(name)
    })
}

/// Parses a number, or one of the names that [`show`] writes. As in JSON, other names, such as `inf`, and numbers outside the range of a Double are rejected.
fn double(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" | "INF" => Some(f64::INFINITY),
        "-Infinity" | "-INF" => Some(f64::NEG_INFINITY),
        _ => text.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

/// Parses a timestamp. A missing offset means UTC, and a date means midnight UTC.
fn instant(text: &str) -> Option<DateTime<Utc>> {
    let with_offset = DateTime::parse_from_rfc3339(text).ok().map(|instant| instant.to_utc());
    let without = || text.parse::<NaiveDateTime>().ok().map(|instant| instant.and_utc());
    let date = || text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0).map(|instant| instant.and_utc());
    with_offset.or_else(without).or_else(date)
}

#[cfg(test)]
mod tests {
    use chrono::Datelike as _;
    use proptest::prelude::*;
    use table_core::ticks;

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            ".{0,20}".prop_map(Value::String),
            any::<i32>().prop_map(Value::Int32),
            any::<i64>().prop_map(Value::Int64),
            any::<f64>().prop_map(|number| Value::Double(if number.is_nan() { 0.5 } else { number })),
            any::<bool>().prop_map(Value::Boolean),
            (0..ticks::MAX).prop_filter_map("in range", ticks::to_datetime).prop_map(Value::DateTime),
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
    fn a_number_is_finite_or_has_the_name_of_a_number_that_is_not() {
        for text in [
            "1e999",
            "-1e999",
            "1.8e308",
            "inf",
            "-inf",
            "+inf",
            "infinity",
            "+Infinity",
            "INFINITY",
            "nan",
            "+NaN",
            "-NaN",
            "NAN",
            "",
            "1e",
        ] {
            assert!(read(EdmType::Double, text).is_err(), "{text}");
            assert_eq!(guess(text), EdmType::String, "{text}");
        }
        for (text, number) in [
            ("Infinity", f64::INFINITY),
            ("INF", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("-INF", f64::NEG_INFINITY),
            ("1.7976931348623157e308", f64::MAX),
            ("+1.5", 1.5),
            ("1e-999", 0.0),
        ] {
            assert_eq!(read(EdmType::Double, text), Ok(Value::Double(number)), "{text}");
        }
        assert!(matches!(read(EdmType::Double, "NaN"), Ok(Value::Double(number)) if number.is_nan()));
    }

    /// Generates strings that look like timestamps. If an entity can store the timestamp exactly, the value is included.
    fn any_instant() -> impl Strategy<Value = (String, Option<DateTime<Utc>>)> {
        let year = prop_oneof![3 => 1590..1610_i32, 1 => 0..10_000_i32];
        let clock = (0..24_u32, 0..60_u32, prop_oneof![9 => 0..60_u32, 1 => 60..61_u32]);
        let digits = prop::collection::vec(prop_oneof![Just('0'), Just('0'), Just('1'), Just('9')], 0..=12);
        let zone = prop::sample::select(vec![("", 0), ("Z", 0), ("+01:00", 60), ("-05:30", -330)]);
        (year, 1..13_u32, 1..32_u32, clock, digits, zone, 0..4_u8).prop_map(
            |(year, month, day, (hour, minute, second), digits, (zone, minutes), form)| {
                let is_date = form == 0;
                let digits: String = digits.into_iter().collect();
                let point = if digits.is_empty() { "" } else { "." };
                let date = format!("{year:04}-{month:02}-{day:02}");
                let whole = format!("{date}T{hour:02}:{minute:02}:{second:02}{point}{digits}{zone}");
                let (text, zone) = if is_date { (date, 0) } else { (whole, minutes) };
                let (hour, minute, second) = if is_date { (0, 0, 0) } else { (hour, minute, second) };
                let digits = if is_date { String::new() } else { digits };
                let nanos = format!("{digits:0<12}")[..9].parse().unwrap();
                let exact = NaiveDate::from_ymd_opt(year, month, day)
                    .and_then(|date| date.and_hms_nano_opt(hour, minute, second, nanos))
                    .map(|at| at.and_utc() - chrono::TimeDelta::minutes(zone))
                    .filter(|at| {
                        at.timestamp_subsec_nanos() % 100 == 0 && (1601..10_000).contains(&at.year())
                    })
                    .filter(|_| digits.bytes().skip(7).all(|digit| digit == b'0'));
                (text, exact)
            },
        )
    }

    proptest! {
        #[test]
        fn an_instant_is_guessed_if_the_store_keeps_its_exact_value((text, exact) in any_instant()) {
            let is_instant = guess(&text) == EdmType::DateTime;
            prop_assert_eq!(is_instant, exact.is_some(), "{}", text);
            if let Some(exact) = exact {
                let row = TableEntity::new("p", "r").unwrap().with("At", read(EdmType::DateTime, &text).unwrap());
                let found = row.to_row().unwrap().view().find("At", &mut 0).unwrap().map(|found| found.to_owned());
                prop_assert_eq!(found, Some(Value::DateTime(exact)), "{}", text);
            }
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
            ("2026-11-25T13:00:00.123456789Z", EdmType::String),
            ("2026-11-25T13:00:00.123456700000Z", EdmType::DateTime),
            ("2026-11-25T13:00:00.123456700001", EdmType::String),
            ("1500-01-01", EdmType::String),
            ("1600-12-31T23:59:59Z", EdmType::String),
            ("1601-01-01", EdmType::DateTime),
            ("2016-12-31T23:59:60Z", EdmType::String),
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
