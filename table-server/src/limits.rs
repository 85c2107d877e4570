//! Limits on concurrent connections and requests.

use std::time::Duration;

/// The upper bound for [`ServerLimits::requests`].
const REQUESTS: usize = 1 << 20;
/// The upper bound for each time limit: one year. Timers cannot represent all longer times.
const TIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Limits on concurrent connections and requests. `usize::MAX` and `Duration::MAX` mean no limit, except that at most 2^20 requests are processed
/// concurrently and each time limit is at most a year.
///
/// ```
/// use table_server::ServerLimits;
///
/// let limits = ServerLimits { connections: 64, ..ServerLimits::default() };
/// assert!(limits.connections < ServerLimits::default().connections);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// The maximum size of a request body, in bytes (REQ-7).
    pub body_bytes: usize,
    /// The maximum number of open connections that have sent an authenticated request: one with a valid signature or token. Beyond the limit, a connection's
    /// first authenticated request is rejected with 503 `ServerBusy`, and an HTTP/1.1 connection is then closed.
    pub connections: usize,
    /// The maximum number of open connections that have not sent an authenticated request. If it is exceeded, the oldest connection of the IPv4 address or IPv6
    /// /64 network with the most such connections is closed.
    pub unauthenticated_connections: usize,
    /// The time limit for a connection's first authenticated request, starting when the connection is accepted.
    pub first_request: Duration,
    /// The maximum number of authenticated requests processed concurrently, and the maximum number being received concurrently. Half of the maximum for
    /// receiving is divided among the accounts, so slow uploads to one account do not block other accounts. Further requests are rejected with 503
    /// `ServerBusy`.
    pub requests: usize,
    /// The maximum total size of responses not yet read by clients, in bytes. If it is exceeded, the server closes the connection with the oldest unread
    /// response from the IPv4 address or IPv6 /64 network with the most unread bytes.
    pub unread_response_bytes: usize,
    /// The time limit for a request body, and for a TLS handshake. The head of an HTTP/1.1 request must arrive within the sum of this time and
    /// [`idle_timeout`](Self::idle_timeout), starting at the end of the previous response.
    pub read_timeout: Duration,
    /// If no byte is transferred in either direction for this long, the connection is closed. The connection may stay open for up to twice this time. The limit
    /// also applies to a connection waiting for its next request.
    pub idle_timeout: Duration,
    /// The grace period for open connections after the server receives the signal to stop.
    pub shutdown_grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            connections: 1024,
            unauthenticated_connections: 512,
            first_request: Duration::from_secs(10),
            requests: 256,
            unread_response_bytes: 256 << 20,
            read_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(60),
            shutdown_grace: Duration::from_secs(10),
        }
    }
}

impl ServerLimits {
    /// Returns the limits clamped to values that semaphores and timers can represent.
    pub(crate) fn bounded(self) -> Self {
        let Self { requests, first_request, read_timeout, idle_timeout, shutdown_grace, .. } = self;
        Self {
            requests: requests.min(REQUESTS),
            first_request: first_request.min(TIME),
            read_timeout: read_timeout.min(TIME),
            idle_timeout: idle_timeout.min(TIME),
            shutdown_grace: shutdown_grace.min(TIME),
            ..self
        }
    }
}
