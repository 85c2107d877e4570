//! `WriteLease`: a time limit for sending a transaction.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::error::{Error, Fault};

/// A time limit for sending a transaction.
///
/// Before a program writes, it reads the stored schema to verify that its writes are permitted. The lease limits how old that read may be when the transaction
/// is sent (EVO-3).
///
/// ```
/// use std::time::Duration;
/// use table_core::Clock;
/// use table_core::store::WriteLease;
///
/// let lease = WriteLease::new(&Clock::default(), Duration::from_secs(5));
/// assert!(lease.remaining().is_some_and(|time| time <= Duration::from_secs(5)));
/// assert!(WriteLease::new(&Clock::default(), Duration::ZERO).remaining().is_none());
/// ```
#[derive(Clone)]
pub struct WriteLease(Arc<Inner>);

struct Inner {
    clock: Clock,
    /// The start of the lease, in ticks.
    began: u64,
    /// The clock's elapsed time at the start of the lease.
    elapsed: Option<Duration>,
    length: Duration,
}

impl WriteLease {
    /// The maximum time between checking the lease and sending the request. It is also the service-side timeout of one attempt.
    ///
    /// An attempt may start just before the lease expires. It then takes effect within twice this time plus the network delay, or never.
    pub const ATTEMPT: Duration = Duration::from_secs(4);

    /// Creates a lease that starts now.
    #[must_use]
    pub fn new(clock: &Clock, length: Duration) -> Self {
        let (began, elapsed) = (clock.now(), clock.elapsed());
        Self(Arc::new(Inner { clock: clock.clone(), began, elapsed, length }))
    }

    /// Returns the time left, or `None` if the lease has expired. Uses the monotonic clock if available, otherwise the wall clock.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        let passed = self.elapsed().or_else(|| self.passed())?;
        self.0.length.checked_sub(passed).filter(|remaining| !remaining.is_zero())
    }

    /// Returns `true` if the lease is still valid according to both the elapsed time and the clock's current time. Both are checked because, on most systems,
    /// elapsed time does not advance while the machine is suspended.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.remaining().is_some() && self.passed().is_some_and(|passed| passed < self.0.length)
    }

    /// Returns the lease that expires first. `None` means that there is no time limit.
    #[must_use]
    pub fn earliest(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) if other.remaining() < one.remaining() => Some(other),
            (one, other) => one.or(other),
        }
    }

    /// Returns the error for a transaction that was not sent because its lease had expired. `last` is the error of the last attempt, if any. Call this function
    /// only if it is certain that no attempt was applied.
    #[must_use]
    pub fn ended(last: Option<Error>) -> Error {
        Error::of(LeaseFault::Ended).with_source(EndedLease(last))
    }

    /// Returns `true` if the error was created by [`ended`](Self::ended).
    #[must_use]
    pub fn has_ended(error: &Error) -> bool {
        !error.is_ambiguous() && error.source().is_some_and(<dyn StdError>::is::<EndedLease>)
    }

    fn elapsed(&self) -> Option<Duration> {
        self.0.clock.elapsed()?.checked_sub(self.0.elapsed?)
    }

    /// Returns the age of the lease according to the clock's current time. Returns `None` if that time is before the start of the lease.
    fn passed(&self) -> Option<Duration> {
        let ticks = self.0.clock.now().checked_sub(self.0.began)?;
        Some(Duration::from_nanos(ticks.saturating_mul(100)))
    }
}

impl fmt::Debug for WriteLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteLease").field("remaining", &self.remaining()).finish()
    }
}

#[derive(Debug, thiserror::Error, Fault)]
enum LeaseFault {
    #[error("the time in which the program may write ended before the write was sent; retry the write")]
    #[fault(ServerBusy, "EVO-3")]
    Ended,
}

/// The source of an expired-lease error. It contains the error of the last attempt, if any.
#[derive(Debug)]
struct EndedLease(Option<Error>);

impl fmt::Display for EndedLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(last) => write!(f, "the last attempt failed: {last}"),
            None => f.write_str("no attempt was made"),
        }
    }
}

impl StdError for EndedLease {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.as_ref().map(|last| last as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::error::ErrorCode;

    const SECOND: u64 = 10_000_000;

    #[test]
    fn evo_3_a_lease_ends_after_its_length_by_elapsed_time() {
        let (now, elapsed) = (Arc::new(AtomicU64::new(100 * SECOND)), Arc::new(AtomicU64::new(7)));
        let (of_now, of_elapsed) = (Arc::clone(&now), Arc::clone(&elapsed));
        let seconds = move || Duration::from_secs(of_elapsed.load(Ordering::Relaxed));
        let clock = Clock::new(move || of_now.load(Ordering::Relaxed)).with_elapsed(seconds);
        let lease = WriteLease::new(&clock, Duration::from_secs(5));
        assert!(lease.is_fresh());
        elapsed.fetch_add(3, Ordering::Relaxed);
        assert_eq!(lease.remaining(), Some(Duration::from_secs(2)));
        for (clock, is_fresh) in [(90, false), (104, true), (105, false)] {
            now.store(clock * SECOND, Ordering::Relaxed);
            assert_eq!((lease.remaining().is_some(), lease.is_fresh()), (true, is_fresh), "{clock}");
        }
        elapsed.fetch_add(2, Ordering::Relaxed);
        now.store(100 * SECOND, Ordering::Relaxed);
        assert_eq!((lease.remaining(), lease.is_fresh()), (None, false));
    }

    #[test]
    fn evo_3_without_elapsed_time_a_lease_ends_by_the_current_time() {
        let now = Arc::new(AtomicU64::new(100 * SECOND));
        let of_now = Arc::clone(&now);
        let clock = Clock::new(move || of_now.load(Ordering::Relaxed));
        let first = WriteLease::new(&clock, Duration::from_secs(5));
        now.fetch_add(SECOND, Ordering::Relaxed);
        let second = WriteLease::new(&clock, Duration::from_secs(5));
        let remaining = |one: &WriteLease, other: &WriteLease| {
            WriteLease::earliest(Some(one.clone()), Some(other.clone())).unwrap().remaining()
        };
        assert_eq!(remaining(&second, &first), Some(Duration::from_secs(4)));
        assert!(WriteLease::earliest(None, None).is_none());
        assert!(WriteLease::earliest(None, Some(first.clone())).is_some());
        now.fetch_add(4 * SECOND, Ordering::Relaxed);
        assert!(first.remaining().is_none() && second.remaining().is_some());
        assert_eq!((remaining(&first, &second), remaining(&second, &first)), (None, None));
    }

    #[test]
    fn evo_3_an_ended_lease_is_distinguished_from_a_busy_server() {
        let busy = Error::new(ErrorCode::ServerBusy, "busy");
        let error = WriteLease::ended(Some(busy.clone()));
        assert!(WriteLease::has_ended(&error) && !WriteLease::has_ended(&busy));
        assert!(error.is_throttled() && !error.is_ambiguous());
        assert!(!WriteLease::has_ended(&error.into_ambiguous()));
    }
}
