//! The service's published targets, enforced as limits (SCL rules).

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use table_core::Clock;

use crate::refusal::Refusal;

/// The limit on entities per second for a partition, and on messages per second for a queue (SCL-1).
const PARTITION: u64 = 2_000;
/// The limit on requests per second for an account (SCL-1).
const ACCOUNT: u64 = 20_000;
/// The number of ticks per second.
const SECOND: u64 = 10_000_000;
/// Once this many partitions are tracked, idle partitions are evicted.
const REMEMBERED: usize = 1 << 14;

/// Limits at the service's scalability targets, above which an account returns 503 `ServerBusy`. Use them to test how a program handles throttling (SCL-3):
/// 2,000 entities per second in a partition, 2,000 messages per second in a queue, and 20,000 requests per second in the account.
///
/// A burst of one second's load is allowed. A transaction counts as one request to the account, and each of its entities counts toward the partition (SCL-2).
/// For a page, the returned entities are counted; for a receive or peek operation, the returned messages.
///
/// ```
/// use table_core::{Clock, Engine};
/// use table_server::{Account, Throttle};
///
/// let account = Account::emulator(Engine::in_memory())?.throttled(Throttle::published(Clock::default()));
/// # let _ = account;
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Throttle {
    clock: Clock,
    hasher: RandomState,
    due: Mutex<Due>,
}

/// For the account and each partition, the time at which all admitted work would be complete at the target rate.
#[derive(Debug, Default)]
struct Due {
    /// The limits' monotonic time, in ticks. It advances with the clock, but does not go back if the clock is set back.
    now: u64,
    /// The last reading of the clock.
    read: u64,
    account: u64,
    partitions: HashMap<u64, u64>,
}

impl Due {
    /// Advances `now` by the clock time elapsed since the last call, and returns it.
    fn advance(&mut self, clock: &Clock) -> u64 {
        let read = clock.now();
        self.now += read.saturating_sub(self.read);
        self.read = read;
        self.now
    }
}

impl Throttle {
    /// Creates limits at the service's published targets. The rates are measured with the given clock.
    #[must_use]
    pub fn published(clock: Clock) -> Self {
        Self { clock, hasher: RandomState::new(), due: Mutex::default() }
    }

    pub(super) fn request(&self) -> Result<(), Refusal> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let now = due.advance(&self.clock);
        admit(&mut due.account, now, 1, ACCOUNT)
    }

    pub(super) fn entities(&self, table: &str, partition: &str, entities: usize) -> Result<(), Refusal> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let now = due.advance(&self.clock);
        if due.partitions.len() >= REMEMBERED {
            due.partitions.retain(|_, due| *due > now);
        }
        let due = due.partitions.entry(self.key(table, partition)).or_default();
        admit(due, now, entities as u64, PARTITION)
    }

    /// Counts work already done, even if it exceeds the target. Later requests are then rejected.
    pub(super) fn charge(&self, table: &str, partition: &str, entities: usize) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let now = due.advance(&self.clock);
        let due = due.partitions.entry(self.key(table, partition)).or_default();
        *due = (*due).max(now) + entities as u64 * SECOND / PARTITION;
    }

    /// Returns a hash that identifies a partition. In the extremely unlikely event of a collision, two partitions share one limit.
    fn key(&self, table: &str, partition: &str) -> u64 {
        self.hasher.hash_one((table, partition))
    }
}

/// Admits `units` units of work, unless at least one second of work is already pending.
fn admit(due: &mut u64, now: u64, units: u64, a_second: u64) -> Result<(), Refusal> {
    if *due >= now + SECOND {
        return Err(Refusal::new(
            503,
            "ServerBusy",
            "The server is busy: this is beyond its published target.",
        ));
    }
    *due = (*due).max(now) + units * SECOND / a_second;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use table_core::ticks;

    use super::*;

    fn at(time: &Arc<AtomicU64>) -> Throttle {
        let time = Arc::clone(time);
        Throttle::published(Clock::new(move || ticks::UNIX_EPOCH + time.load(Ordering::Relaxed)))
    }

    fn taken(take: impl Fn() -> Result<(), Refusal>) -> usize {
        (0..100_000).take_while(|_| take().is_ok()).count()
    }

    #[test]
    fn scl_1_a_partition_takes_2000_entities_a_second_and_an_account_20000_requests() {
        let time = Arc::new(AtomicU64::new(0));
        let throttle = at(&time);
        for second in 0..3 {
            time.store(second * SECOND, Ordering::Relaxed);
            assert_eq!(taken(|| throttle.entities("Employee", "Sales", 1)), 2_000, "{second}");
            assert_eq!(taken(|| throttle.entities("Employee", "Marketing", 1)), 2_000, "{second}");
            assert_eq!(taken(|| throttle.request()), 20_000, "{second}");
        }
        time.fetch_add(SECOND / 10, Ordering::Relaxed);
        assert_eq!(taken(|| throttle.entities("Employee", "Sales", 1)), 200);
        assert_eq!(throttle.request().map_err(|refusal| refusal.status), Ok(()));
    }

    #[test]
    fn scl_2_a_transaction_counts_its_entities_and_a_page_what_it_returned() {
        let time = Arc::new(AtomicU64::new(0));
        let throttle = at(&time);
        assert_eq!(taken(|| throttle.entities("Employee", "Sales", 100)), 20);
        throttle.charge("Employee", "Marketing", 1_999);
        assert_eq!(taken(|| throttle.entities("Employee", "Marketing", 1)), 1);
        let refused = throttle.entities("Employee", "Marketing", 1).unwrap_err();
        assert_eq!((refused.status, refused.code), (503, "ServerBusy"));
    }

    #[test]
    fn scl_3_a_clock_that_is_set_back_delays_nothing() {
        let time = Arc::new(AtomicU64::new(3_600 * SECOND));
        let throttle = at(&time);
        assert_eq!(taken(|| throttle.entities("Employee", "Sales", 1)), 2_000);
        assert_eq!(taken(|| throttle.request()), 20_000);
        // The clock is set back by an hour, and then a second passes.
        time.store(0, Ordering::Relaxed);
        assert!(throttle.request().is_err());
        time.store(SECOND, Ordering::Relaxed);
        assert_eq!(taken(|| throttle.entities("Employee", "Sales", 1)), 2_000);
        assert_eq!(taken(|| throttle.request()), 20_000);
    }

    #[test]
    fn idle_partitions_are_forgotten() {
        let time = Arc::new(AtomicU64::new(0));
        let throttle = at(&time);
        for number in 0..=REMEMBERED {
            time.fetch_add(SECOND, Ordering::Relaxed);
            throttle.entities("Employee", &number.to_string(), 1).unwrap();
        }
        assert!(throttle.due.lock().unwrap().partitions.len() <= 2);
    }
}
