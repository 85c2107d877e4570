//! Constants in filters: formatting and parsing of the eight types (section 4.3 of the rules).

use std::fmt;

use uuid::Uuid;

use crate::etag::format_datetime;
use crate::filter::fault::FilterFault;
use crate::ticks;
use crate::value::{Value, ValueRef};

/// Writes a constant that parses to the same value. A non-finite Double is written as `NaN` or `inf`. The parser rejects both, because the grammar has no
/// constants for them.
pub(super) fn write(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::String(text) => {
            f.write_str("'")?;
            for (index, part) in text.split('\'').enumerate() {
                f.write_str(if index == 0 { "" } else { "''" })?;
                f.write_str(part)?;
            }
            f.write_str("'")
        }
        Value::Int32(number) => write!(f, "{number}"),
        Value::Int64(number) => write!(f, "{number}L"),
        // `Debug` prints the shortest text that round-trips, always with a fraction or an exponent.
        Value::Double(number) => write!(f, "{number:?}"),
        Value::Boolean(flag) => write!(f, "{flag}"),
        Value::DateTime(instant) => write!(f, "datetime'{}'", format_datetime(*instant)),
        Value::Guid(guid) => write!(f, "guid'{guid}'"),
        Value::Binary(bytes) => {
            f.write_str("X'")?;
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            f.write_str("'")
        }
    }
}

/// Writes the value as a filter constant: `'Ada'`, `36`, `36L`, `guid'…'` (section 4.3 of the rules). A non-finite Double is written as `NaN` or `inf`, which
/// is not a valid constant.
///
/// ```
/// use table_core::Value;
///
/// assert_eq!(Value::from("O'Hara").to_string(), "'O''Hara'");
/// assert_eq!(Value::from(36_i64).to_string(), "36L");
/// ```
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self, f)
    }
}

/// Writes the value in the same format as [`Value`].
///
/// ```
/// assert_eq!(table_core::ValueRef::Binary(&[1, 255]).to_string(), "X'01ff'");
/// ```
impl fmt::Display for ValueRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(&self.to_owned(), f)
    }
}

/// Parses a number. The lexer has already limited the text to digits, letters, `.` and signs.
pub(super) fn number(text: &str) -> Result<Value, FilterFault> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if is_digits(digits) {
        return text.parse().map(Value::Int32).map_err(|_| FilterFault::Int32(text.to_owned()));
    }
    if let Some(digits) = digits.strip_suffix('L')
        && is_digits(digits)
    {
        let number = text.trim_end_matches('L').parse().map(Value::Int64);
        return number.map_err(|_| FilterFault::Int64(text.to_owned()));
    }
    if is_decimal(digits.strip_suffix('D').unwrap_or(digits)) {
        let number: Option<f64> = text.trim_end_matches('D').parse().ok();
        return number
            .filter(|number| number.is_finite())
            .map(Value::Double)
            .ok_or_else(|| FilterFault::Double(text.to_owned()));
    }
    Err(FilterFault::Number(text.to_owned()))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns `true` for numbers such as `2`, `2.5`, `2e-3` and `2.5E10`. Each separator must have digits on both sides.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    is_digits(whole)
        && is_digits(fraction)
        && is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
}

/// Parses a constant in the format `prefix'text'`.
pub(super) fn prefixed(prefix: &str, text: &str) -> Result<Value, FilterFault> {
    match prefix {
        "datetime" => {
            let instant = ticks::read(text).and_then(ticks::to_datetime);
            instant.map(Value::DateTime).ok_or(FilterFault::DateTime)
        }
        "guid" => {
            let guid = (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten();
            guid.map(Value::Guid).ok_or(FilterFault::Guid)
        }
        "X" | "x" | "binary" => binary(text).map(Value::Binary).ok_or(FilterFault::Binary),
        other => Err(FilterFault::Prefix(other.to_owned())),
    }
}

fn binary(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}
