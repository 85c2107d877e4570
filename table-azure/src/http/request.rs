//! A request before it is signed and sent: relative to an endpoint, so that it can go to either of two.

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use table_core::{Error, Result};

use crate::http::encode;
use crate::http::fault::HttpFault;

/// A request of one operation.
///
/// It may be sent more than once: it reads, sets once more what it has set, or its sender resolves what a repetition answers
/// (CON-11, RTY-4).
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The operation's word in errors and spans.
    pub(crate) operation: &'static str,
    pub(crate) method: Method,
    /// After the endpoint's base; begins with a slash, percent-encoded.
    pub(crate) path: String,
    /// Pairs joined by `&`, percent-encoded.
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    /// A request without a body.
    pub(crate) fn new(operation: &'static str, method: Method, path: impl Into<String>) -> Self {
        Self {
            operation,
            method,
            path: path.into(),
            query: String::new(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    /// Adds a query option; its value is percent-encoded here, once (LIT-4).
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
    /// `InvalidInput` if the value cannot be written in one: it holds control characters.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Result<Self> {
        let value =
            HeaderValue::from_bytes(value.as_bytes()).map_err(|_| Error::of(HttpFault::Header(name)))?;
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(self)
    }

    /// Sets a header to a text of this program.
    pub(crate) fn fixed(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        self
    }

    /// Sets the body.
    pub(crate) fn body(self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self.fixed("content-type", content_type) }
    }

    /// Whether it changes nothing: it may go to a secondary, and a lost answer leaves no doubt.
    pub(crate) fn reads(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD
    }
}
