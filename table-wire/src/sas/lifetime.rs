//! Token lifetimes, with a tolerance for clock skew.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// The validity period of a token. Tokens contain times in whole seconds.
///
/// ```
/// use std::time::Duration;
/// use chrono::DateTime;
/// use table_wire::sas::Lifetime;
///
/// let now = DateTime::from_timestamp(1_795_161_600, 0).unwrap(); // 2026-11-20T08:00:00Z
/// let hour = Lifetime::valid_for(now, Duration::from_secs(60 * 60));
/// assert_eq!(hour.start.unwrap().to_rfc3339(), "2026-11-20T07:45:00+00:00"); // tolerance for slow clocks
/// assert_eq!(hour.expiry.to_rfc3339(), "2026-11-20T09:00:00+00:00");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The inclusive start, or `None` if the token is valid immediately.
    pub start: Option<DateTime<Utc>>,
    /// The exclusive end.
    pub expiry: DateTime<Utc>,
}

impl Lifetime {
    /// The tolerance for clock skew: 15 minutes, as in the service (AUTH-9).
    pub const SKEW: Duration = Duration::from_secs(15 * 60);

    /// Creates a lifetime that starts immediately and ends at `expiry`.
    #[must_use]
    pub const fn until(expiry: DateTime<Utc>) -> Self {
        Self { start: None, expiry }
    }

    /// Creates a lifetime that starts [`SKEW`](Self::SKEW) before `now` and ends `time` after `now`. The end is clamped to chrono's latest time.
    #[must_use]
    pub fn valid_for(now: DateTime<Utc>, time: Duration) -> Self {
        let end = TimeDelta::from_std(time).ok().and_then(|time| now.checked_add_signed(time));
        Self::until(end.unwrap_or(DateTime::<Utc>::MAX_UTC)).starting(now).skew(Self::SKEW)
    }

    /// Sets the start time.
    #[must_use]
    pub const fn starting(self, start: DateTime<Utc>) -> Self {
        Self { start: Some(start), expiry: self.expiry }
    }

    /// Moves the start time earlier by `skew`. Has no effect if no start time is set.
    #[must_use]
    pub fn skew(self, skew: Duration) -> Self {
        let skew = TimeDelta::from_std(skew).unwrap_or(TimeDelta::MAX);
        let earlier =
            |start: DateTime<Utc>| start.checked_sub_signed(skew).unwrap_or(DateTime::<Utc>::MIN_UTC);
        Self { start: self.start.map(earlier), expiry: self.expiry }
    }
}
