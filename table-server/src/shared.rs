//! What all connections of a server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::account::Account;
use crate::limits::ServerLimits;
use crate::metrics::{self, Metrics, UnderWay};
use crate::observe::Observed;
use crate::transport::Transport;

/// Accounts, bounds and counts.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) accounts: Vec<Account>,
    pub(crate) limits: ServerLimits,
    pub(crate) latency: Duration,
    pub(crate) transport: Transport,
    pub(crate) metrics: Metrics,
    /// Whether it was asked to end.
    ending: AtomicBool,
    /// Connections that were accepted and go on.
    open: AtomicUsize,
    pub(crate) connections: Arc<Semaphore>,
    pub(crate) requests: Semaphore,
}

impl Shared {
    pub(crate) fn new(
        accounts: Vec<Account>,
        limits: ServerLimits,
        latency: Duration,
        transport: Transport,
    ) -> Self {
        Self {
            accounts,
            limits,
            latency,
            transport,
            metrics: Metrics::default(),
            ending: AtomicBool::new(false),
            open: AtomicUsize::new(0),
            connections: Arc::new(Semaphore::new(limits.connections)),
            requests: Semaphore::new(limits.requests),
        }
    }

    /// Is no longer ready.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    /// Whether only one connection is open.
    pub(crate) fn has_one_connection(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 1
    }

    /// Counts a connection.
    pub(crate) fn open(self: &Arc<Self>) -> Open {
        self.open.fetch_add(1, Ordering::Relaxed);
        Open(Arc::clone(self))
    }
}

/// A connection that is counted as long as this is.
#[derive(Debug)]
pub(crate) struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Observed for Shared {
    fn is_ready(&self) -> bool {
        let takes = self.connections.available_permits() > 0 && self.requests.available_permits() > 0;
        takes && !self.ending.load(Ordering::Relaxed)
    }

    fn metrics(&self) -> String {
        let under_way = UnderWay {
            connections: self.open.load(Ordering::Relaxed),
            requests: self.limits.requests.saturating_sub(self.requests.available_permits()),
        };
        metrics::write(&self.metrics, &self.accounts, under_way)
    }
}
