//! State shared by all connections of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use table_core::{Error, ErrorCode};
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};

use crate::account::Account;
use crate::bearer::Bearer;
use crate::limits::ServerLimits;
use crate::log_limit::LogLimits;
use crate::metrics::{self, Metrics, UnderWay};
use crate::observe::Observed;
use crate::open::OpenConnections;
use crate::transport::Transport;
use crate::unread::UnreadResponses;
use crate::unverified::Guests;
use crate::uploads::Uploads;

/// The accounts, limits and counters of a server.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) accounts: Vec<Arc<Account>>,
    pub(crate) limits: ServerLimits,
    pub(crate) latency: Duration,
    pub(crate) transport: Transport,
    /// The bearer tokens accepted by the server.
    pub(crate) bearer: Option<Bearer>,
    pub(crate) metrics: Metrics,
    /// `true` if the server has received the signal to stop.
    ending: AtomicBool,
    /// The number of open connections.
    pub(crate) open: OpenConnections,
    pub(crate) guests: Arc<Guests>,
    pub(crate) unread: Arc<UnreadResponses>,
    pub(crate) log_limits: LogLimits,
    /// Permits for authenticated requests whose bodies are being read.
    pub(crate) uploads: Uploads,
    /// Permits for authenticated requests being processed.
    pub(crate) requests: Arc<Semaphore>,
}

impl Shared {
    pub(crate) fn new(
        accounts: Vec<Account>,
        limits: ServerLimits,
        latency: Duration,
        transport: Transport,
        bearer: Option<Bearer>,
    ) -> Self {
        let limits = limits.bounded();
        let uploads = Uploads::new(accounts.iter().map(Account::name), limits.requests);
        Self {
            accounts: accounts.into_iter().map(Arc::new).collect(),
            limits,
            latency,
            transport,
            bearer,
            metrics: Metrics::default(),
            ending: AtomicBool::new(false),
            open: OpenConnections::default(),
            guests: Guests::new(limits.unauthenticated_connections, limits.connections),
            unread: UnreadResponses::new(limits.unread_response_bytes),
            log_limits: LogLimits::default(),
            uploads,
            requests: Arc::new(Semaphore::new(limits.requests)),
        }
    }

    /// Makes the server report that it is not ready.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    /// Acquires all request permits. Waits until no request is being processed, and prevents further requests until the permits are dropped.
    async fn all_permits(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.requests.acquire_many(u32::try_from(self.limits.requests).unwrap_or(u32::MAX)).await
    }

    /// Waits until no request is being processed, and rejects later requests. A request may still be running after its connection has ended.
    pub(crate) async fn finish(&self) {
        let _permits = self.all_permits().await;
        self.requests.close();
    }
}

impl Observed for Shared {
    fn is_ready(&self) -> bool {
        self.requests.available_permits() > 0 && !self.ending.load(Ordering::Relaxed)
    }

    async fn reset(self: Arc<Self>) -> table_core::Result<bool> {
        if !self.accounts.iter().all(|account| account.is_resettable) {
            return Ok(false);
        }
        // The reset takes all permits, so no request sees a partial reset. Requests that arrive in the meantime are rejected as busy.
        let stopped = |_| Error::new(ErrorCode::ServerBusy, "the server has stopped");
        let _permits = self.all_permits().await.map_err(stopped)?;
        for account in &self.accounts {
            account.reset().await?;
        }
        Ok(true)
    }

    fn metrics(&self) -> String {
        let under_way = UnderWay {
            connections: self.open.count(),
            requests: self.limits.requests.saturating_sub(self.requests.available_permits()),
        };
        metrics::write(&self.metrics, &self.accounts, under_way)
    }
}

#[cfg(test)]
mod tests {
    use table_core::{Engine, TableName, TableStore};

    use super::*;

    /// Tests that a reset waits for running requests, and that no new request starts until the reset is complete.
    #[tokio::test]
    async fn no_request_sees_a_partial_reset() {
        let account = Account::emulator(Engine::in_memory()).unwrap().resettable();
        let engine = account.engine.clone();
        for name in ["Department", "Employee"] {
            engine.create_table(&TableName::new(name).unwrap()).await.unwrap();
        }
        let limits = ServerLimits { requests: 4, ..ServerLimits::default() };
        let shared = Arc::new(Shared::new(vec![account], limits, Duration::ZERO, Transport::Plain, None));
        let running = shared.requests.try_acquire().unwrap();
        let mut reset = Box::pin(Arc::clone(&shared).reset());
        tokio::select! {
            biased;
            _ = &mut reset => panic!("a request is running"),
            () = std::future::ready(()) => {}
        }
        assert!(shared.requests.try_acquire().is_err());
        assert_eq!(engine.list_tables("", None, 10).await.unwrap().names.len(), 2);
        drop(running);
        assert!(reset.await.unwrap());
        assert!(engine.list_tables("", None, 10).await.unwrap().names.is_empty());
        assert_eq!(shared.requests.available_permits(), 4);
    }

    #[tokio::test]
    async fn the_end_waits_for_requests_and_refuses_later_ones() {
        let account = Account::emulator(Engine::in_memory()).unwrap().resettable();
        let limits = ServerLimits { requests: 2, ..ServerLimits::default() };
        let shared = Shared::new(vec![account], limits, Duration::ZERO, Transport::Plain, None);
        let running = shared.requests.try_acquire().unwrap();
        let mut end = Box::pin(shared.finish());
        tokio::select! {
            biased;
            () = &mut end => panic!("a request is running"),
            () = std::future::ready(()) => {}
        }
        drop(running);
        end.await;
        assert!(shared.requests.try_acquire().is_err());
        assert!(Arc::new(shared).reset().await.is_err(), "a reset that begins later");
    }
}
