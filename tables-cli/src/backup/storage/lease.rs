//! The lock of a prefix in an object store: numbered objects, of which the one with the highest number belongs to the holder.
//!
//! An object store has no locks that end with a process. The holder therefore renews its lock: it creates the object with the next number, and deletes the
//! previous one. Another command that sees the same highest number for [`PATIENCE`] takes over by creating the next object. Only one command can create an
//! object, and a command that does not own the object with the highest number has lost the lock. No clocks are compared.
//!
//! Numbers never start again, because the last holder leaves an object that marks the lock as free. A command that lost the lock can therefore never own the
//! highest number.
//!
//! A command completes its work by creating the next object with a record of the last file. This either succeeds while the command holds the lock, or fails
//! because another command took over; a check before an ordinary write could succeed although the write arrives after a take-over. The next command that takes
//! over writes the file of such a record, in case its owner died before it wrote the file.

use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::backup::storage::requests::Requests;
use crate::failure::{Failure, Result};

/// The time for which a lock must not change before another command takes over.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// The time after which a lock is renewed.
const RENEWAL: Duration = Duration::from_secs(5);
/// The content of the object that the last holder leaves.
const FREE: &[u8] = b"free";
/// The folder of the objects.
pub(super) const LOCKS: &str = "locks";

/// A lock that this command holds.
#[derive(Debug)]
pub(super) struct Lease {
    number: u64,
    renewed: Instant,
}

impl Lease {
    /// Acquires the lock, and waits if another command seems to hold it. Completes the work of an earlier holder that died after its commit.
    pub(super) fn acquire(requests: &Requests, patience: Duration, shown: &str) -> Result<Self> {
        let Some(seen) = highest(requests)? else { return Self::take(requests, 1, Bytes::new(), shown) };
        if requests.get(&object(seen))?.is_none_or(|content| content != FREE) {
            std::thread::sleep(patience);
            if highest(requests)? != Some(seen) {
                let message = format!("another `tables backup` writes to {shown}; wait until it ends");
                return Err(Failure::Refused(message));
            }
            let content = requests.get(&object(seen))?.unwrap_or_default();
            if let Some((name, content)) = file_of(&content) {
                requests.put(name, content)?;
            }
        }
        Self::take(requests, seen + 1, Bytes::new(), shown)
    }

    fn take(requests: &Requests, number: u64, content: Bytes, shown: &str) -> Result<Self> {
        let renewed = Instant::now();
        let lost = || {
            Failure::Refused(format!(
                "another `tables backup` took over {shown}; repeat this one after it has ended"
            ))
        };
        if !requests.create(&object(number), content)? {
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
        *self = Self::take(requests, self.number + 1, Bytes::new(), shown)?;
        Ok(())
    }

    /// Writes the file that completes the work of the holder, if it still holds the lock.
    pub(super) fn commit(
        &mut self,
        requests: &Requests,
        name: &str,
        content: Bytes,
        shown: &str,
    ) -> Result<()> {
        *self = Self::take(requests, self.number + 1, record(name, &content), shown)?;
        requests.put(name, content)?;
        // The record must not outlive the file, which a later command may remove.
        self.renew(requests, shown)
    }

    /// Returns `true` if the lock must be renewed soon.
    pub(super) fn is_due(&self) -> bool {
        self.renewed.elapsed() >= RENEWAL
    }

    /// Releases the lock.
    pub(super) fn release(&self, requests: &Requests) -> Result<()> {
        // If another command created the next object, it holds the lock.
        if requests.create(&object(self.number + 1), Bytes::from_static(FREE))? {
            requests.delete(&object(self.number))?;
        }
        Ok(())
    }
}

/// Returns the content of a lock object that records a file: its name, and its content after the first line.
fn record(name: &str, content: &[u8]) -> Bytes {
    Bytes::from([name.as_bytes(), b"\n", content].concat())
}

/// Returns the recorded file in the content of a lock object; `None` for another content.
fn file_of(record: &Bytes) -> Option<(&str, Bytes)> {
    let end = record.iter().position(|byte| *byte == b'\n')?;
    let name = std::str::from_utf8(record.get(..end)?).ok()?;
    Some((name, record.slice(end + 1..)))
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
