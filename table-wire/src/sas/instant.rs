//! Instants as signatures write them (SAS-1).

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use table_core::{Error, Result};

use super::fault::SasFault;

/// 0001-01-01 and the last second of 9999, which four digits of a year can say.
const FIRST: i64 = -62_135_596_800;
const LAST: i64 = 253_402_300_799;

/// To the second, as `2026-11-20T08:00:00Z`; what lies beyond the calendar becomes its end.
pub(super) fn write(instant: DateTime<Utc>) -> String {
    let within = DateTime::from_timestamp(instant.timestamp().clamp(FIRST, LAST), 0);
    within.unwrap_or(instant).format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Any of the three forms that the service accepts: a date, minutes, or seconds.
pub(super) fn read(text: &str) -> Result<DateTime<Utc>> {
    let at = |form: &str| NaiveDateTime::parse_from_str(text, form).ok();
    let date = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
    let digits = text.get(..4).is_some_and(|year| year.bytes().all(|byte| byte.is_ascii_digit()))
        && !text.contains(char::is_whitespace);
    let found = at("%Y-%m-%dT%H:%M:%SZ").or_else(|| at("%Y-%m-%dT%H:%MZ")).or_else(date);
    found
        .filter(|_| digits)
        .map(|instant| instant.and_utc())
        .ok_or_else(|| Error::of(SasFault::Instant(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_four_digits_cannot_say_becomes_the_end_of_the_calendar() {
        assert_eq!(write(DateTime::<Utc>::MAX_UTC), "9999-12-31T23:59:59Z");
        assert_eq!(write(DateTime::<Utc>::MIN_UTC), "0001-01-01T00:00:00Z");
    }

    #[test]
    fn sas_1_three_forms() {
        for (text, expected) in [
            ("2026-11-20", "2026-11-20T00:00:00Z"),
            ("2026-11-20T08:05Z", "2026-11-20T08:05:00Z"),
            ("2026-11-20T08:05:09Z", "2026-11-20T08:05:09Z"),
        ] {
            assert_eq!(write(read(text).unwrap()), expected);
        }
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2026-11-20T08:05:09",
            "2026-11-20T08:05:09+01:00",
            "+26-01-01",
            "2026-11- 2",
            "2026-11-\n2",
        ] {
            assert_eq!(read(text).unwrap_err().rule(), Some("SAS-1"), "{text}");
        }
    }
}
