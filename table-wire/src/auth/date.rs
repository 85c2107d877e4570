//! HTTP dates in RFC 1123 format: GMT, with a two-digit day (AUTH-9).

use std::fmt::Write;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Timelike, Utc};

const FORMAT: &str = "%a, %d %b %Y %H:%M:%S GMT";
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Formats a time as an HTTP date.
///
/// ```
/// use chrono::DateTime;
/// use table_wire::auth::print_http_date;
///
/// assert_eq!(print_http_date(DateTime::from_timestamp(1_795_161_600, 0).unwrap()), "Fri, 20 Nov 2026 08:00:00 GMT");
/// ```
#[must_use]
pub fn print_http_date(instant: DateTime<Utc>) -> String {
    // Years outside 0 to 9999 are written with a sign or with more digits, so chrono's formatter handles them.
    written(&instant).unwrap_or_else(|| instant.format(FORMAT).to_string())
}

/// Formats a time, or returns `None` if its year is not between 0 and 9999. chrono's formatter is slower, because it parses its format string on every call.
/// Each queue message contains three dates.
fn written(instant: &DateTime<Utc>) -> Option<String> {
    let year = instant.year();
    let weekday = WEEKDAYS.get(instant.weekday().num_days_from_monday() as usize)?;
    let month = MONTHS.get(instant.month0() as usize)?;
    let (day, hour, minute, second) = (instant.day(), instant.hour(), instant.minute(), instant.second());
    let mut text = String::with_capacity(29);
    // Writing to a `String` cannot fail.
    let _ = write!(text, "{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT");
    (0..10_000).contains(&year).then_some(text)
}

/// Parses an HTTP date in the format of [`print_http_date`], which clients and servers use. Returns `None` for other text.
///
/// ```
/// use table_wire::auth::parse_http_date;
///
/// assert_eq!(parse_http_date("Fri, 20 Nov 2026 08:00:00 GMT").unwrap().timestamp(), 1_795_161_600);
/// assert_eq!(parse_http_date("20 Nov 2026"), None);
/// ```
#[must_use]
pub fn parse_http_date(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    // Nearly all requests use the strict format. chrono's parser also accepts variants, such as a one-digit day.
    strict(text).or_else(|| NaiveDateTime::parse_from_str(text, FORMAT).ok()).map(|instant| instant.and_utc())
}

/// Parses a date whose components all have a fixed position and length.
fn strict(text: &str) -> Option<NaiveDateTime> {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u32>().ok())?
    };
    let is = |from: usize, to: usize, wanted: &str| text.get(from..to) == Some(wanted);
    let month = MONTHS.iter().zip(1..).find_map(|(name, month)| is(8, 11, name).then_some(month))?;
    let between = [(3, ", "), (7, " "), (11, " "), (16, " "), (19, ":"), (22, ":")];
    let framed = between.iter().all(|(at, wanted)| is(*at, at + wanted.len(), wanted));
    if !framed || !is(25, text.len(), " GMT") {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(i32::try_from(number(12, 16)?).ok()?, month, number(5, 7)?)?;
    let weekday = WEEKDAYS.get(date.weekday().num_days_from_monday() as usize)?;
    is(0, 3, weekday).then(|| date.and_hms_opt(number(17, 19)?, number(20, 22)?, number(23, 25)?))?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn auth_9_a_written_date_is_read_back(seconds in -60_000_000_000_i64..250_000_000_000) {
            let instant = DateTime::from_timestamp(seconds, 0).unwrap();
            let text = print_http_date(instant);
            prop_assert_eq!(&text, &instant.format(FORMAT).to_string());
            prop_assert_eq!(parse_http_date(&text), Some(instant));
            prop_assert_eq!(strict(&text), (text.len() == 29).then_some(instant.naive_utc()));
        }

        /// Tests that chrono's parser returns the same time for every date that the strict parser accepts.
        #[test]
        fn auth_9_the_fast_reader_agrees_with_the_general_one_on_altered_dates(
            seconds in 0_i64..4_000_000_000, at in 0_usize..29, byte in "[ -~]",
        ) {
            let mut text = print_http_date(DateTime::from_timestamp(seconds, 0).unwrap());
            text.replace_range(at..=at, &byte);
            let general = NaiveDateTime::parse_from_str(&text, FORMAT).ok();
            prop_assert!(strict(&text).is_none_or(|found| Some(found) == general), "{}", text);
        }
    }

    #[test]
    fn auth_9_a_day_has_two_digits() {
        for (instant, text) in [
            ("2026-11-20T08:00:00.9Z", "Fri, 20 Nov 2026 08:00:00 GMT"),
            ("2026-11-01T08:00:00Z", "Sun, 01 Nov 2026 08:00:00 GMT"),
        ] {
            assert_eq!(print_http_date(instant.parse().unwrap()), text);
            assert_eq!(
                parse_http_date(text).unwrap().timestamp(),
                instant.parse::<DateTime<Utc>>().unwrap().timestamp()
            );
        }
        assert_eq!(parse_http_date("20"), None);
    }
}
