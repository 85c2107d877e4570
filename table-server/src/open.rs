//! Counts the open connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of open connections. Clones share one counter.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenConnections(Arc<AtomicUsize>);

impl OpenConnections {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts a connection until the returned guard is dropped.
    pub(crate) fn open(&self) -> Open {
        self.0.fetch_add(1, Ordering::Relaxed);
        Open(self.clone())
    }
}

/// A guard that counts a connection as open until it is dropped.
#[derive(Debug)]
pub(crate) struct Open(OpenConnections);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
