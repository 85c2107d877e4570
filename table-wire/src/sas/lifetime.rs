//! Lifetime of a token, with room for clock skew.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// From when to when a token is valid, to the second.
///
/// ```
/// use std::time::Duration;
/// use chrono::DateTime;
/// use table_wire::sas::Lifetime;
///
/// let now = DateTime::from_timestamp(1_795_161_600, 0).unwrap(); // 2026-11-20T08:00:00Z
/// let hour = Lifetime::lasting(now, Duration::from_hours(1));
/// assert_eq!(hour.start.unwrap().to_rfc3339(), "2026-11-20T07:45:00+00:00"); // room for clocks that are behind
/// assert_eq!(hour.expiry.to_rfc3339(), "2026-11-20T09:00:00+00:00");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Valid from here on; `None` is at once.
    pub start: Option<DateTime<Utc>>,
    /// No longer valid from here on.
    pub expiry: DateTime<Utc>,
}

impl Lifetime {
    /// The tolerance for clocks, as the service's (AUTH-9): 15 minutes.
    pub const SKEW: Duration = Duration::from_mins(15);

    /// At once, until an instant.
    #[must_use]
    pub const fn until(expiry: DateTime<Utc>) -> Self {
        Self { start: None, expiry }
    }

    /// From `now` on for so long, with a start that is [`SKEW`](Self::SKEW) earlier. A time too long for the calendar ends
    /// with it.
    #[must_use]
    pub fn lasting(now: DateTime<Utc>, time: Duration) -> Self {
        let end = TimeDelta::from_std(time).ok().and_then(|time| now.checked_add_signed(time));
        Self::until(end.unwrap_or(DateTime::<Utc>::MAX_UTC)).starting(now).skew(Self::SKEW)
    }

    /// Valid from this instant on.
    #[must_use]
    pub const fn starting(self, start: DateTime<Utc>) -> Self {
        Self { start: Some(start), expiry: self.expiry }
    }

    /// Moves the start back by how far clocks may be behind.
    #[must_use]
    pub fn skew(self, skew: Duration) -> Self {
        let skew = TimeDelta::from_std(skew).unwrap_or(TimeDelta::MAX);
        let earlier =
            |start: DateTime<Utc>| start.checked_sub_signed(skew).unwrap_or(DateTime::<Utc>::MIN_UTC);
        Self { start: self.start.map(earlier), expiry: self.expiry }
    }
}
