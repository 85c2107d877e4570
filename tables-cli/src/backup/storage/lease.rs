//! The lock of a prefix in an object store: numbered objects, of which the one with the highest number belongs to the holder.
//!
//! An object store has no locks that end with a process. The holder therefore renews its lock: it creates the object with the next number, and deletes the
//! previous one. Another command that sees the same highest number for [`PATIENCE`] takes over by creating the next object. Only one command can create an
//! object, and a command that does not own the object with the highest number has lost the lock. No clocks are compared.

use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::backup::storage::requests::Requests;
use crate::failure::{Failure, Result};

/// The time for which a lock must not change before another command takes over.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// The time after which a lock is renewed.
const RENEWAL: Duration = Duration::from_secs(5);
/// The folder of the objects.
pub(super) const LOCKS: &str = "locks";

/// A lock that this command holds.
#[derive(Debug)]
pub(super) struct Lease {
    number: u64,
    renewed: Instant,
}

impl Lease {
    /// Acquires the lock, and waits if another command seems to hold it.
    pub(super) fn acquire(requests: &Requests, patience: Duration, shown: &str) -> Result<Self> {
        let seen = highest(requests)?;
        if seen.is_some() {
            std::thread::sleep(patience);
            if highest(requests)? != seen {
                let message = format!("another `tables backup` writes to {shown}; wait until it ends");
                return Err(Failure::Refused(message));
            }
        }
        Self::take(requests, seen.map_or(1, |seen| seen + 1), shown)
    }

    fn take(requests: &Requests, number: u64, shown: &str) -> Result<Self> {
        let renewed = Instant::now();
        let lost = || {
            Failure::Refused(format!(
                "another `tables backup` took over {shown}; repeat this one after it has ended"
            ))
        };
        if !requests.create(&object(number), Bytes::new())? {
            return Err(lost());
        }
        let numbers = numbers(requests)?;
        if numbers.iter().max() != Some(&number) {
            requests.delete(&object(number))?;
            return Err(lost());
        }
        for old in numbers.into_iter().filter(|old| *old < number) {
            requests.delete(&object(old))?;
        }
        Ok(Self { number, renewed })
    }

    /// Renews the lock.
    pub(super) fn renew(&mut self, requests: &Requests, shown: &str) -> Result<()> {
        *self = Self::take(requests, self.number + 1, shown)?;
        Ok(())
    }

    /// Returns `true` if the lock must be renewed soon.
    pub(super) fn is_due(&self) -> bool {
        self.renewed.elapsed() >= RENEWAL
    }

    /// Releases the lock.
    pub(super) fn release(&self, requests: &Requests) -> Result<()> {
        requests.delete(&object(self.number))
    }
}

fn object(number: u64) -> String {
    format!("{LOCKS}/{number:020}")
}

fn numbers(requests: &Requests) -> Result<Vec<u64>> {
    Ok(requests.names(LOCKS)?.iter().filter_map(|name| name.parse().ok()).collect())
}

fn highest(requests: &Requests) -> Result<Option<u64>> {
    Ok(numbers(requests)?.into_iter().max())
}
