//! Bounds on the concurrent work of clients.

use std::time::Duration;

/// Bounds on the concurrent work of clients.
///
/// ```
/// use table_server::ServerLimits;
///
/// let limits = ServerLimits { connections: 64, ..ServerLimits::default() };
/// assert!(limits.connections < ServerLimits::default().connections);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Bytes of a request's body (REQ-7).
    pub body_bytes: usize,
    /// Open connections that have sent a verified request: a request with a valid signature or token.
    pub connections: usize,
    /// Open connections without one. A further one closes the oldest of the address with most of them.
    pub guests: usize,
    /// Time for the first verified request of a connection, from the moment it is accepted.
    pub first_request: Duration,
    /// Verified requests that are processed concurrently; as many more may be sending their bodies. Others are refused with 503
    /// `ServerBusy`.
    pub requests: usize,
    /// Time for the head of a request, and again for its body.
    pub sending: Duration,
    /// Time without a byte in either direction after which a connection is closed, at the latest after twice this time. It bounds
    /// connections that [`sending`](Self::sending) does not bound: HTTP/2, and clients that do not read their responses.
    pub idle: Duration,
    /// Time for open connections to end after the server received the signal to stop.
    pub closing: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            connections: 1024,
            guests: 512,
            first_request: Duration::from_secs(10),
            requests: 256,
            sending: Duration::from_secs(30),
            idle: Duration::from_mins(1),
            closing: Duration::from_secs(10),
        }
    }
}
