//! Recognises the codecs of key parts. A codec is recognised only if it reproduces the encoded value of every row.

use chrono::{NaiveDate, NaiveDateTime};
use table_core::ticks;
use uuid::Uuid;

/// The years in which ticks and dates are recognised. If a number would be a time in any other year, it is treated as an ordinary number.
const YEARS: std::ops::RangeInclusive<i32> = 1990..=2100;

/// The codec of a key part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Any string.
    Text,
    /// A string that does not contain the character that terminates it.
    Without(char),
    /// A decimal number, zero-padded to this width.
    Digits(usize),
    /// A decimal number without leading zeros.
    Unpadded,
    /// The ticks of a timestamp, as 19 digits.
    Ticks,
    /// Inverted ticks, which sort newest first.
    InvertedTicks,
    /// A GUID with hyphens.
    Guid,
    /// A GUID without hyphens, as 32 hexadecimal digits.
    GuidSimple,
    /// A date, or a date and time, in this pattern.
    Pattern(&'static str),
}

impl Codec {
    /// Returns the codec that reproduces all these strings. Returns `None` if there is no such codec.
    pub(super) fn of(texts: &[&str]) -> Option<Self> {
        let all = |is: fn(&str) -> bool| texts.iter().all(|text| is(text));
        let width = texts.first()?.len();
        let is_fixed = texts.iter().all(|text| text.len() == width);
        if all(|text| is_guid(text, 36)) {
            return Some(Self::Guid);
        }
        // A string of 32 decimal digits is not treated as a GUID.
        if all(|text| is_guid(text, 32)) && !all(is_digits) {
            return Some(Self::GuidSimple);
        }
        if let Some(pattern) = pattern(texts) {
            return Some(Self::Pattern(pattern));
        }
        if !all(is_digits) {
            return None;
        }
        if width == 19 && is_fixed {
            let are_instants = |of: fn(u64) -> Option<u64>| {
                texts.iter().all(|text| text.parse().ok().and_then(of).is_some_and(is_recent))
            };
            if are_instants(Some) {
                return Some(Self::Ticks);
            }
            if are_instants(ticks::invert) {
                return Some(Self::InvertedTicks);
            }
        }
        let is_padded = |text: &&str| text.len() > 1 && text.starts_with('0');
        if is_fixed && width <= 19 && (width > 1 || texts.len() == 1) {
            return Some(Self::Digits(width));
        }
        let are_numbers = texts.iter().all(|text| !is_padded(text) && text.parse::<u32>().is_ok());
        are_numbers.then_some(Self::Unpadded)
    }

    /// Returns the Rust type of a field with this codec.
    pub(super) const fn rust_type(&self) -> &'static str {
        match self {
            Self::Text | Self::Without(_) => "String",
            Self::Digits(0..=9) | Self::Unpadded => "u32",
            Self::Digits(_) => "u64",
            Self::Ticks | Self::InvertedTicks => "DateTime<Utc>",
            Self::Guid | Self::GuidSimple => "Uuid",
            Self::Pattern(pattern) => {
                if pattern.len() <= 10 && !contains_hour(pattern) {
                    "NaiveDate"
                } else {
                    "DateTime<Utc>"
                }
            }
        }
    }

    /// Returns the default name of a field with this codec, or `None` for string codecs.
    pub(super) const fn field(&self) -> Option<&'static str> {
        match self {
            Self::Text | Self::Without(_) => None,
            Self::Digits(_) | Self::Unpadded => Some("number"),
            Self::Ticks | Self::InvertedTicks => Some("at"),
            Self::Guid | Self::GuidSimple => Some("id"),
            Self::Pattern(_) => Some("date"),
        }
    }

    /// Returns `true` for time codecs. They encode consecutive times as adjacent values.
    pub(super) const fn follows_time(&self) -> bool {
        matches!(self, Self::Ticks | Self::InvertedTicks | Self::Pattern(_))
    }
}

const fn contains_hour(pattern: &str) -> bool {
    let bytes = pattern.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'H' {
            return true;
        }
        at += 1;
    }
    false
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_guid(text: &str, length: usize) -> bool {
    text.len() == length
        && text.parse::<Uuid>().is_ok()
        && text.bytes().all(|byte| !byte.is_ascii_uppercase())
}

fn is_recent(count: u64) -> bool {
    ticks::to_datetime(count).is_some_and(|instant| YEARS.contains(&chrono::Datelike::year(&instant)))
}

/// Returns the date pattern that matches all these strings, or `None` if no pattern does.
fn pattern(texts: &[&str]) -> Option<&'static str> {
    /// Declaration patterns and the corresponding chrono formats.
    const PATTERNS: [(&str, &str); 8] = [
        ("yyyyMMdd", "%Y%m%d"),
        ("yyyy-MM-dd", "%Y-%m-%d"),
        ("yyyyMMddHH", "%Y%m%d%H"),
        ("yyyyMMddHHmm", "%Y%m%d%H%M"),
        ("yyyyMMddHHmmss", "%Y%m%d%H%M%S"),
        ("yyyy-MM-ddTHH:mm", "%Y-%m-%dT%H:%M"),
        ("yyyy-MM-ddTHH:mm:ss", "%Y-%m-%dT%H:%M:%S"),
        ("yyyyMMddTHHmm", "%Y%m%dT%H%M"),
    ];
    let fits = |(pattern, format): &(&str, &str)| {
        texts
            .iter()
            .all(|text| text.len() == pattern.len() && text.is_ascii() && is_date(text, pattern, format))
    };
    PATTERNS.iter().find(|pattern| fits(pattern)).map(|(pattern, _)| *pattern)
}

/// Returns `true` if the text is a date, and formatting this date yields the same text. Without this check, chrono would accept numbers with blanks and signs.
fn is_date(text: &str, pattern: &str, format: &str) -> bool {
    let instant = if !contains_hour(pattern) {
        NaiveDate::parse_from_str(text, format).ok().and_then(|date| date.and_hms_opt(0, 0, 0))
    } else if pattern == "yyyyMMddHH" {
        // chrono cannot parse an hour without minutes.
        NaiveDateTime::parse_from_str(&format!("{text}00"), "%Y%m%d%H%M").ok()
    } else {
        NaiveDateTime::parse_from_str(text, format).ok()
    };
    instant.is_some_and(|instant| {
        YEARS.contains(&chrono::Datelike::year(&instant)) && instant.format(format).to_string() == text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_recognised_only_as_its_pattern_writes_it() {
        for (text, found) in [
            ("2026-01-01", Some("yyyy-MM-dd")),
            ("2026-01- 1", None),
            ("2026- 1-01", None),
            ("2026-1-001", None),
            ("20260101", Some("yyyyMMdd")),
            ("2026 101", None),
            ("2026010112", Some("yyyyMMddHH")),
            ("20260101 9", None),
            ("2026-01-01T09:30", Some("yyyy-MM-ddTHH:mm")),
            ("2026-01-01T 9:30", None),
            ("2026-01-01T09:+5", None),
            ("2026-02-30", None),
        ] {
            assert_eq!(pattern(&[text]), found, "{text}");
        }
    }
}
