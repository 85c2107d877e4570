//! Bounds on what clients may ask of the server at once.

use std::time::Duration;

/// Bounds on what clients may ask of the server at once.
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
    /// Connections that are open at once; further ones wait to be accepted.
    pub connections: usize,
    /// Requests that are answered at once; further ones are refused with 503 `ServerBusy`.
    pub requests: usize,
    /// How long a client may take to send the head of a request, and how long its body.
    pub sending: Duration,
    /// How long a connection may stand still, without a byte in either direction; one that does is closed before twice this time has passed.
    /// It bounds what `sending` does not: connections that say nothing at all, those of HTTP/2, clients that do not read their answer.
    pub idle: Duration,
    /// How long connections may go on after the server was asked to end.
    pub closing: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            connections: 1024,
            requests: 256,
            sending: Duration::from_secs(30),
            idle: Duration::from_mins(1),
            closing: Duration::from_secs(10),
        }
    }
}
