//! The lock of a prefix in an object store. It consists of numbered objects, and belongs to the owner of the highest number.
//!
//! An object store has no locks that end with a process. The holder therefore renews its lock: it creates the object with the next number,
//! and deletes the previous one. If another command sees the same highest number for [`PATIENCE`], it takes over the lock by creating the
//! next object. Only one command can create an object, and a command that does not own the object with the highest number has lost the lock.
//! No clocks are compared.
//!
//! Numbers are never reused, because the last holder leaves an object that marks the lock as free. A command that lost the lock can therefore never
//! own the highest number.
//!
//! A command completes its work by creating the next object with a record of the last file. This either succeeds while the command holds the lock, or
//! fails because another command took over. Checking the lock before an ordinary write would not be enough, because the write could arrive after a
//! take-over. If the owner of such a record died before it wrote the file, the next command that takes over writes it.

use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::backup::storage::requests::Requests;
use crate::failure::{Failure, Result};

/// The time without renewal after which another command takes over a lock.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// The time after which the holder renews a lock.
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
    /// Acquires the lock, and waits if another command seems to hold it. If an earlier holder died after its commit, completes that holder's work.
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

    /// Writes the file that completes the work of the holder, provided that it still holds the lock.
    pub(super) fn commit(
        &mut self,
        requests: &Requests,
        name: &str,
        content: Bytes,
        shown: &str,
    ) -> Result<()> {
        *self = Self::take(requests, self.number + 1, record(name, &content), shown)?;
        requests.put(name, content)?;
        // The record must not outlive the file, because a later command may remove the file.
        self.renew(requests, shown)
    }

    /// Returns `true` if the lock must be renewed soon.
    pub(super) fn is_due(&self) -> bool {
        self.renewed.elapsed() >= RENEWAL
    }

    /// Releases the lock.
    pub(super) fn release(&self, requests: &Requests) -> Result<()> {
        // If another command has created the next object, that command holds the lock.
        if requests.create(&object(self.number + 1), Bytes::from_static(FREE))? {
            requests.delete(&object(self.number))?;
        }
        Ok(())
    }
}

/// Returns the content of a lock object with a record of a file: the name of the file, and its content after the first line.
fn record(name: &str, content: &[u8]) -> Bytes {
    Bytes::from([name.as_bytes(), b"\n", content].concat())
}

/// Returns the recorded file in the content of a lock object; `None` if the content is not a record.
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
