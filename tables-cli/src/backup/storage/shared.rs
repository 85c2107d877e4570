//! The state that the storage in an object store shares with its open files.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use crate::backup::storage::lease::Lease;
use crate::backup::storage::requests::Requests;
use crate::failure::Result;

/// The state that the storage shares with its open files.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) requests: Requests,
    pub(super) segment: usize,
    pub(super) shown: String,
    pub(super) lease: Mutex<Option<Lease>>,
    /// The interval at which a command renews its lock.
    pub(super) renewal: Duration,
}

impl Shared {
    /// Creates or replaces an object, and renews the lock if it is due for renewal.
    pub(super) fn put(&self, name: &str, content: Bytes) -> Result<()> {
        self.renew(false)?;
        self.requests.put(name, content)
    }

    /// Creates or replaces the object that completes the work of this command, if the command still holds the lock.
    pub(super) fn commit(&self, name: &str, content: Bytes) -> Result<()> {
        match self.lease.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(lease) => lease.commit(&self.requests, name, content, &self.shown),
            None => self.requests.put(name, content),
        }
    }

    /// Renews the lock if it is due for renewal, or if `is_required` is `true`.
    pub(super) fn renew(&self, is_required: bool) -> Result<()> {
        match self.lease.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(lease) if is_required || lease.is_due(self.renewal) => {
                lease.renew(&self.requests, &self.shown)
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.get_mut().unwrap_or_else(PoisonError::into_inner) {
            // If the release fails, the next command has to wait until it can take over the lock.
            let _ = lease.release(&self.requests);
        }
    }
}
