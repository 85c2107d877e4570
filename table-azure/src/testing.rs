//! Test support: a substitute for the network, and seeded random numbers. The `testing` feature enables this module.
//!
//! This module is not part of the API, and may change without notice.
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
    /// The HTTP method.
    pub method: String,
    /// The complete URL.
    pub url: String,
    /// The headers, with lower-case names.
    pub headers: Vec<(String, String)>,
    /// The request body.
    pub body: Bytes,
}

impl WireRequest {
    /// Returns the value of a header. The name must be in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// A complete response.
#[derive(Clone, Debug, Default)]
pub struct WireAnswer {
    /// The HTTP status code.
    pub status: u16,
    /// The headers, with lower-case names.
    pub headers: Vec<(&'static str, String)>,
    /// The response body.
    pub body: Vec<u8>,
}

/// An error for a request that received no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// No connection was established, so nothing was sent.
    BeforeSending,
    /// The connection broke after the request may have reached the server.
    AfterSending,
}

/// A pending response.
pub type Delivery = Pin<Box<dyn Future<Output = Result<WireAnswer, Broken>> + Send>>;

/// A substitute for connections in tests.
pub trait Wire: Debug + Send + Sync {
    /// Sends a request.
    fn send(&self, request: WireRequest) -> Delivery;
}

/// Settings for tests only.
#[derive(Clone, Debug, Default)]
pub struct Testing {
    /// The substitute for connections, or `None` to use real connections.
    pub wire: Option<Arc<dyn Wire>>,
    /// The seed for random numbers.
    pub seed: Option<u64>,
    /// `true` to use the client's own timers, as in production. `false` to use the timers of the caller's runtime, whose clock a test can pause.
    #[cfg(test)]
    pub(crate) has_own_timers: bool,
}
