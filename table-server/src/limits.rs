//! Limits on the concurrent work of clients.

use std::time::Duration;

/// Limits on the concurrent work of clients.
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
    /// The maximum number of open connections that have sent a verified request, which is one with a valid signature or token.
    pub connections: usize,
    /// The maximum number of open connections that have not sent a verified request. If it is exceeded, the oldest connection of the IPv4 address or
    /// IPv6 /64 network with the most such connections is closed.
    pub unauthenticated_connections: usize,
    /// The time limit for the first verified request of a connection, from the moment at which it is accepted.
    pub first_request: Duration,
    /// The maximum number of verified requests that are processed concurrently. As many again may be sending their bodies. Others are rejected with
    /// 503 `ServerBusy`.
    pub requests: usize,
    /// The maximum total size of responses that clients have not read, in bytes. If it is exceeded, the connection with the oldest of these responses is
    /// closed, among the connections of the IPv4 address or IPv6 /64 network with the most unread bytes.
    pub unread_response_bytes: usize,
    /// The time limit for the head of a request, and again for its body.
    pub read_timeout: Duration,
    /// The time without a byte in either direction after which a connection is closed, at the latest after twice this time. It bounds
    /// connections that [`read_timeout`](Self::read_timeout) does not bound: HTTP/2, and clients that do not read their responses.
    pub idle_timeout: Duration,
    /// The time that open connections have to finish after the server received the signal to stop.
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
