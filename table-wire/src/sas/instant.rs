//! Times in shared access signatures (SAS-1).

use chrono::{DateTime, SubsecRound, Utc};
use table_core::{Error, Result, ticks};

use super::fault::SasFault;

/// Formats a time in whole seconds. A time outside the years 1 to 9999 is written as the first or last second of that range.
pub(super) fn write(instant: DateTime<Utc>) -> String {
    let bound = if instant.timestamp() < 0 { 0 } else { ticks::MAX };
    let ticks = ticks::from_datetime(instant.trunc_subsecs(0)).unwrap_or(bound);
    ticks::write(ticks - ticks % 10_000_000).unwrap_or_default()
}

/// Parses a time in any format that the service accepts.
///
/// # Errors
/// `InvalidInput` if the text is not a time in such a format.
pub(super) fn read(text: &str) -> Result<DateTime<Utc>> {
    let instant = ticks::read(text).and_then(ticks::to_datetime);
    instant.ok_or_else(|| Error::of(SasFault::Instant(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_outside_four_digit_years_become_the_nearest_inside() {
        assert_eq!(write(DateTime::<Utc>::MAX_UTC), "9999-12-31T23:59:59Z");
        assert_eq!(write(DateTime::<Utc>::MIN_UTC), "0001-01-01T00:00:00Z");
    }

    /// Tests every accepted format. `toISOString` in JavaScript writes milliseconds, and the format `o` in .NET writes seven fractional digits.
    #[test]
    fn sas_1_every_form_of_an_instant_is_read() {
        for (text, expected) in [
            ("2026-11-20", "2026-11-20T00:00:00Z"),
            ("2026-11-20T08:05Z", "2026-11-20T08:05:00Z"),
            ("2026-11-20T08:05:09Z", "2026-11-20T08:05:09Z"),
            ("2026-11-20T08:05:09.999Z", "2026-11-20T08:05:09Z"),
            ("2026-11-20T08:05:09.1234567Z", "2026-11-20T08:05:09Z"),
            ("2026-11-20T08:05:09+01:00", "2026-11-20T07:05:09Z"),
            ("2026-11-20T08:05:09", "2026-11-20T08:05:09Z"),
        ] {
            assert_eq!(write(read(text).unwrap()), expected);
        }
        for text in ["", "2026", "2026-13-01", "+26-01-01", "2026-11- 2", "2026-11-\n2"] {
            assert_eq!(read(text).unwrap_err().rule(), Some("SAS-1"), "{text}");
        }
    }
}
