//! What all connections of a server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::account::Account;
use crate::limits::ServerLimits;
use crate::metrics::{self, Metrics, UnderWay};
use crate::observe::Observed;
use crate::open::OpenConnections;
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
    pub(crate) open: OpenConnections,
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
            open: OpenConnections::default(),
            connections: Arc::new(Semaphore::new(limits.connections)),
            requests: Semaphore::new(limits.requests),
        }
    }

    /// Is no longer ready.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }
}

impl Observed for Shared {
    fn is_ready(&self) -> bool {
        let takes = self.connections.available_permits() > 0 && self.requests.available_permits() > 0;
        takes && !self.ending.load(Ordering::Relaxed)
    }

    fn metrics(&self) -> String {
        let under_way = UnderWay {
            connections: self.open.count(),
            requests: self.limits.requests.saturating_sub(self.requests.available_permits()),
        };
        metrics::write(&self.metrics, &self.accounts, under_way)
    }
}
