//! Timestamps in human-readable format.

use chrono::{DateTime, SecondsFormat, Utc};
use table_core::ticks;

/// Formats a timestamp as RFC 3339 text.
pub(super) fn show(instant: DateTime<Utc>) -> String {
    instant.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// Parses `value` as a timestamp or a date, and returns its ticks. A date means midnight UTC.
pub(super) fn ticks_of(value: &str) -> Option<u64> {
    let instant = value.parse::<DateTime<Utc>>().ok().or_else(|| {
        value
            .parse::<chrono::NaiveDate>()
            .ok()
            .and_then(|date| date.and_hms_opt(0, 0, 0))
            .map(|at| at.and_utc())
    });
    instant.and_then(ticks::from_datetime)
}
