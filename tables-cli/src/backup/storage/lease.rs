//! The lock on a prefix of an object store. It consists of numbered objects. The command that created the object with the highest number holds the lock.
//!
//! Unlike a file system, an object store does not release a lock when a process ends, so the holder must keep renewing its lock: it creates the object with the
//! next number, and deletes the previous object. If another command sees the same highest number for the duration of [`TIMEOUT`], it takes over the lock by
//! creating the object with the next number. An object can be created by only one command. A command loses the lock as soon as another command creates an
//! object with a higher number. No clocks are compared.
//!
//! A client may resend a request because the response was lost, and then find the object that its first attempt created. To recognise its own objects, a
//! command stores a random token in each of them.
//!
//! Numbers are never reused, because the last holder leaves an object that marks the lock as free. This ensures that a command that has lost the lock can never
//! hold the highest number again.
//!
//! A command completes its work by writing one last file. It first creates the next lock object, which records the file. This succeeds if the command still
//! holds the lock, and fails if another command has taken it over. Checking the lock before an ordinary write would not be sufficient, because the write could
//! arrive after a takeover. If the command dies before it writes the file, the next command that takes over the lock writes the file.
//!
//! The request that writes this file may also arrive late, after the command that took over the lock has removed the file. To keep such a request from
//! recreating the file, the file's name is first reserved with an empty object, and the request replaces only this object.

use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use object_store::UpdateVersion;
use uuid::Uuid;

use crate::backup::storage::requests::Requests;
use crate::failure::{Failure, Result};

/// If the lock is not renewed for this long, another command takes it over.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);
/// The interval at which the holder renews the lock.
pub(super) const RENEWAL: Duration = Duration::from_secs(5);
/// The content of the object that the last holder leaves to mark the lock as free.
const FREE: &[u8] = b"free";
/// The folder that contains the lock objects.
pub(super) const LOCKS: &str = "locks";

/// The lock on a prefix, held by this command.
#[derive(Debug)]
pub(super) struct Lease {
    number: u64,
    renewed: Instant,
    /// The time of `renewed` on the system clock. It is needed because on some systems, an `Instant` does not advance while the machine is suspended.
    renewed_at: SystemTime,
}

impl Lease {
    /// Acquires the lock, waiting if another command appears to hold it. If a previous holder recorded its last file but died before writing it, writes that
    /// file too.
    pub(super) fn acquire(requests: &Requests, timeout: Duration, shown: &str) -> Result<Self> {
        let Some(seen) = highest(requests)? else { return Self::take(requests, 1, None, shown) };
        if requests.get(&object(seen))?.is_none_or(|content| content != FREE) {
            std::thread::sleep(timeout);
            if highest(requests)? != Some(seen) {
                let message = format!("another `tables backup` writes to {shown}; wait until it ends");
                return Err(Failure::Refused(message));
            }
            let file = File::of(&requests.get(&object(seen))?.unwrap_or_default());
            // The next object records the same file. If this command dies here, the command that takes over next completes the work.
            let mut lease = Self::take(requests, seen + 1, file.as_ref(), shown)?;
            if let Some(file) = file {
                file.write(requests)?;
                lease.renew(requests, shown)?;
            }
            return Ok(lease);
        }
        Self::take(requests, seen + 1, None, shown)
    }

    /// Creates the lock object with this number, which records `file`, and deletes the objects with lower numbers.
    fn take(requests: &Requests, number: u64, file: Option<&File>, shown: &str) -> Result<Self> {
        let (renewed, renewed_at) = (Instant::now(), SystemTime::now());
        let lost = || {
            Failure::Refused(format!(
                "another `tables backup` took over {shown}; repeat this one after it has ended"
            ))
        };
        let token = Uuid::new_v4().to_string();
        let content = file.map_or_else(|| Bytes::from(token.clone()), |file| file.record(&token));
        let name = object(number);
        if !requests.create(&name, content.clone())? && requests.get(&name)?.as_ref() != Some(&content) {
            return Err(lost());
        }
        let numbers = numbers(requests)?;
        if numbers.iter().max() != Some(&number) {
            requests.delete(&name)?;
            return Err(lost());
        }
        for old in numbers.into_iter().filter(|old| *old < number) {
            requests.delete(&object(old))?;
        }
        Ok(Self { number, renewed, renewed_at })
    }

    /// Renews the lock.
    pub(super) fn renew(&mut self, requests: &Requests, shown: &str) -> Result<()> {
        *self = Self::take(requests, self.number + 1, None, shown)?;
        Ok(())
    }

    /// Writes the file that completes the holder's work, if the holder still has the lock.
    pub(super) fn commit(
        &mut self,
        requests: &Requests,
        name: &str,
        content: Bytes,
        shown: &str,
    ) -> Result<()> {
        let file = File { name: name.to_owned(), content, reserved: Some(requests.reserve(name)?) };
        *self = Self::take(requests, self.number + 1, Some(&file), shown)?;
        file.write(requests)?;
        // The file may be removed later. The record must not outlive it, because a command that takes over the lock writes the recorded file.
        self.renew(requests, shown)
    }

    /// Returns `true` if it is time to renew the lock.
    pub(super) fn is_due(&self, renewal: Duration) -> bool {
        let passed = self.renewed.elapsed().max(self.renewed_at.elapsed().unwrap_or_default());
        passed >= renewal
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

/// The ETag and the version of an object, as stored in a record.
type Version = Option<(Option<String>, Option<String>)>;

/// The file that completes a command's work.
struct File {
    name: String,
    content: Bytes,
    /// The version of the empty object that the file replaces, or `None` in a record written by an earlier release.
    reserved: Option<UpdateVersion>,
}

impl File {
    /// Returns the content of a lock object that records the file. The first line contains the file's name and version, and the object's token. The file's
    /// content follows.
    fn record(&self, token: &str) -> Bytes {
        let version = self.reserved.as_ref();
        let version = version.map(|version| (version.e_tag.as_deref(), version.version.as_deref()));
        let line = serde_json::json!([self.name, version, token]).to_string();
        Bytes::from([line.as_bytes(), b"\n", &self.content].concat())
    }

    /// Returns the file recorded in a lock object, or `None` if the content is not such a record.
    fn of(record: &Bytes) -> Option<Self> {
        let end = record.iter().position(|byte| *byte == b'\n')?;
        let (line, content) = (record.get(..end)?, record.slice(end + 1..));
        // In a record written by an earlier release, the first line has no token, or contains only the file's name.
        let (name, version) = serde_json::from_slice::<(String, Version, String)>(line)
            .map(|(name, version, _)| (name, version))
            .or_else(|_| serde_json::from_slice::<(String, Version)>(line))
            .ok()
            .or_else(|| Some((String::from_utf8(line.to_vec()).ok()?, None)))?;
        let reserved = version.map(|(e_tag, version)| UpdateVersion { e_tag, version });
        Some(Self { name, content, reserved })
    }

    /// Writes the file, unless another command has already written or removed it.
    fn write(&self, requests: &Requests) -> Result<()> {
        match &self.reserved {
            Some(reserved) => requests.update(&self.name, self.content.clone(), reserved.clone()),
            None => requests.put(&self.name, self.content.clone()),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_due_after_the_machine_was_suspended() {
        let lease = |asleep: Duration| Lease {
            number: 1,
            renewed: Instant::now(),
            renewed_at: SystemTime::now() - asleep,
        };
        assert!(!lease(Duration::ZERO).is_due(RENEWAL));
        assert!(lease(TIMEOUT).is_due(RENEWAL));
    }
}
