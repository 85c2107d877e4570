//! The present instant, for dates of requests; tests put their own in its place.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};

/// Tells the present instant: a signature holds it, and a service refuses one that is 15 minutes off (AUTH-9).
///
/// ```
/// use table_azure::Clock;
///
/// let clock = Clock::new(|| chrono::DateTime::UNIX_EPOCH);
/// assert_eq!(clock.now().timestamp(), 0);
/// ```
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>);

impl Clock {
    /// A clock that asks this closure.
    pub fn new(now: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The present instant.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        (self.0)()
    }
}

impl Default for Clock {
    /// The system's.
    fn default() -> Self {
        Self::new(Utc::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
