//! Unsigned requests. Each path is relative to an endpoint, so a request can be sent to the primary or to the secondary.

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use table_core::store::WriteLease;
use table_core::{Error, Result};

use crate::http::encode;
use crate::http::fault::HttpFault;

/// An unsigned request for one operation.
///
/// A request may be sent several times. After a retry of a write that is not idempotent, the caller must determine the outcome (CON-11, RTY-4).
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The name of the operation, for errors and spans.
    pub(crate) operation: &'static str,
    pub(crate) method: Method,
    /// The percent-encoded path relative to the endpoint's base URL. It starts with a slash.
    pub(crate) path: String,
    /// The query: percent-encoded `name=value` pairs joined by `&`.
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The success statuses that acknowledge the request. A response with any other success status is assumed not to come from the service.
    ///
    /// The list is empty if the caller checks the response body instead.
    acknowledged_by: &'static [u16],
    /// The lease during which the request may be sent. If it is `None`, the request may be sent at any time.
    pub(crate) lease: Option<WriteLease>,
}

impl Request {
    /// Creates a request without a body.
    pub(crate) fn new(operation: &'static str, method: Method, path: impl Into<String>) -> Self {
        Self {
            operation,
            method,
            path: path.into(),
            query: String::new(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            acknowledged_by: &[],
            lease: None,
        }
    }

    /// Adds a query option. The value is percent-encoded by this method (LIT-4).
    pub(crate) fn query(mut self, name: &str, value: &str) -> Self {
        if !self.query.is_empty() {
            self.query.push('&');
        }
        self.query.push_str(name);
        self.query.push('=');
        self.query.push_str(&encode(value));
        self
    }

    /// Sets a header.
    ///
    /// # Errors
    /// `InvalidInput` if the value contains control characters.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Result<Self> {
        let value =
            HeaderValue::from_bytes(value.as_bytes()).map_err(|_| Error::of(HttpFault::Header(name)))?;
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(self)
    }

    /// Sets a header to a constant value.
    pub(crate) fn fixed(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        self
    }

    /// Sets the body and its content type.
    pub(crate) fn body(self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self.fixed("content-type", content_type) }
    }

    /// Sets the success statuses that acknowledge the request.
    pub(crate) fn acknowledged_by(self, statuses: &'static [u16]) -> Self {
        Self { acknowledged_by: statuses, ..self }
    }

    /// Sets the lease during which the request may be sent.
    pub(crate) fn under(self, lease: Option<&WriteLease>) -> Self {
        Self { lease: lease.cloned(), ..self }
    }

    /// Returns `true` if the given success status acknowledges the request. A page from a proxy or portal usually has a different status, such as 200.
    pub(crate) fn is_acknowledged_by(&self, status: u16) -> bool {
        self.acknowledged_by.is_empty() || self.acknowledged_by.contains(&status)
    }

    /// Returns `true` if the request only reads. Such a request may be sent to a secondary endpoint, and a lost response does not make its outcome ambiguous.
    pub(crate) fn reads(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD
    }
}
