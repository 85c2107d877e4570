//! Times in shared access signatures and stored access policies (SAS-1, ACL-2).

use chrono::{DateTime, SubsecRound, Utc};
use table_core::{Error, Result, ticks};

use super::fault::SasFault;

const SECOND: u64 = 10_000_000;

/// Converts a time to ticks. A time outside the years 1 to 9999 is clamped. Omitting it instead would be unsafe, because a policy that starts in the far future
/// would then apply immediately.
fn ticks(instant: DateTime<Utc>) -> u64 {
    ticks::from_datetime(instant).unwrap_or(if instant.timestamp() < 0 { 0 } else { ticks::MAX })
}

/// Formats a time with a precision of 100 ns, without trailing zeros.
pub(crate) fn write_ticks(instant: DateTime<Utc>) -> String {
    print(ticks(instant))
}

/// Formats a time with seven fractional digits.
pub(crate) fn write_padded(instant: DateTime<Utc>) -> String {
    let fraction = ticks(instant) % SECOND;
    format!("{}.{fraction:07}Z", write(instant).trim_end_matches('Z'))
}

/// Formats a time in whole seconds.
pub(super) fn write(instant: DateTime<Utc>) -> String {
    let ticks = ticks(instant.trunc_subsecs(0));
    print(ticks - ticks % SECOND)
}

/// Formats ticks in the years 1 to 9999.
fn print(ticks: u64) -> String {
    ticks::write(ticks).unwrap_or_default()
}

/// Parses a time in any format accepted by the service.
///
/// # Errors
/// `InvalidInput` if the text has none of these formats.
pub(super) fn read(text: &str) -> Result<DateTime<Utc>> {
    let instant = ticks::read(text).and_then(ticks::to_datetime);
    instant.ok_or_else(|| Error::of(SasFault::Instant(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acl_2_times_of_policies_have_fractions_of_ticks() {
        let instant = DateTime::from_timestamp(0, 1_200_050).unwrap();
        assert_eq!(write_ticks(instant), "1970-01-01T00:00:00.0012Z");
        assert_eq!(write_padded(instant), "1970-01-01T00:00:00.0012000Z");
        assert_eq!(write_padded(DateTime::<Utc>::MAX_UTC), "9999-12-31T23:59:59.9999999Z");
    }

    #[test]
    fn instants_outside_four_digit_years_become_the_nearest_inside() {
        assert_eq!(write(DateTime::<Utc>::MAX_UTC), "9999-12-31T23:59:59Z");
        assert_eq!(write(DateTime::<Utc>::MIN_UTC), "0001-01-01T00:00:00Z");
    }

    /// Tests every accepted format. JavaScript's `toISOString` writes milliseconds, and .NET's format `o` writes seven fractional digits.
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
