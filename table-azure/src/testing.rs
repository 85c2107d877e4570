//! Test support: a substitute for the network, and reproducible random numbers. The `testing` feature enables it. It is not part of the API and may
//! change without notice.
#![cfg_attr(
    not(feature = "testing"),
    allow(dead_code, unreachable_pub, reason = "only tests create it, but all code reads it")
)]

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

/// A request sent by the client.
#[derive(Clone, Debug)]
pub struct WireRequest {
    /// The method.
    pub method: String,
    /// The complete URL.
    pub url: String,
    /// The headers: names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl WireRequest {
    /// Returns a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// A complete response.
#[derive(Clone, Debug, Default)]
pub struct WireAnswer {
    /// The status.
    pub status: u16,
    /// The headers: names in lower case, and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// The reason why no response was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// No connection was established, so nothing was sent.
    BeforeSending,
    /// The connection broke after the request may have arrived.
    AfterSending,
}

/// A pending response.
pub type Delivery = Pin<Box<dyn Future<Output = Result<WireAnswer, Broken>> + Send>>;

/// A substitute for connections in tests.
pub trait Wire: Debug + Send + Sync {
    /// Sends a request.
    fn send(&self, request: WireRequest) -> Delivery;
}

/// Settings for tests.
#[derive(Clone, Debug, Default)]
pub struct Testing {
    /// The substitute for connections; `None` to use real connections.
    pub wire: Option<Arc<dyn Wire>>,
    /// The seed for random numbers.
    pub seed: Option<u64>,
    /// `true` to use the client's own timers, as in production; `false` to use those of the caller's runtime, whose clock a test can pause.
    #[cfg(test)]
    pub(crate) has_own_timers: bool,
}
