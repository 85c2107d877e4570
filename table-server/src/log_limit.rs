//! Limits on log lines that anyone who can reach the port can trigger. Without a limit, such lines could fill the disk.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of log lines per [`PERIOD`].
const LINES: u32 = 60;
const PERIOD: Duration = Duration::from_secs(60);

/// The limits on log lines, one per kind. If the kinds shared a limit, frequent lines of one kind would suppress rare lines of another.
#[derive(Debug, Default)]
pub(crate) struct LogLimits {
    /// Connections that were not accepted.
    pub(crate) connections: LogLimit,
    /// Requests with status 403.
    pub(crate) unauthorized: LogLimit,
    /// Other requests without a valid signature.
    pub(crate) unverified: LogLimit,
}

/// A limit on log lines. It counts the lines logged in the current period, and the lines omitted since the last logged line.
#[derive(Debug, Default)]
pub(crate) struct LogLimit(Mutex<Period>);

#[derive(Debug, Default)]
struct Period {
    begun: Option<Instant>,
    lines: u32,
    omitted: u64,
}

impl LogLimit {
    /// Returns the number of lines omitted since the last logged line, or `None` if the line at `now` must be omitted as well.
    pub(crate) fn line(&self, now: Instant) -> Option<u64> {
        let mut period = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if period.begun.is_none_or(|begun| now.saturating_duration_since(begun) >= PERIOD) {
            (period.begun, period.lines) = (Some(now), 0);
        }
        if period.lines >= LINES {
            period.omitted = period.omitted.saturating_add(1);
            return None;
        }
        period.lines += 1;
        Some(std::mem::take(&mut period.omitted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_the_limit_are_counted() {
        let (limit, start) = (LogLimit::default(), Instant::now());
        for _ in 0..LINES {
            assert_eq!(limit.line(start), Some(0));
        }
        for _ in 0..1_000 {
            assert_eq!(limit.line(start + PERIOD / 2), None);
        }
        assert_eq!(limit.line(start + PERIOD), Some(1_000));
        assert_eq!(limit.line(start + PERIOD), Some(0));
    }
}
