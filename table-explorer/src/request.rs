//! Parsed requests: path, parameters and form fields.

use bytes::Bytes;
use http::{HeaderMap, Method};

use crate::failure::{Failure, Result};

/// A parsed request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) form: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
}

impl Request {
    pub(crate) fn new(request: http::Request<Bytes>) -> Self {
        let (parts, body) = request.into_parts();
        let path =
            parts.uri.path().split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect();
        let query = pairs(parts.uri.query().unwrap_or_default().as_bytes());
        let form = if parts.method == Method::POST { pairs(&body) } else { Vec::new() };
        Self { method: parts.method, path, query, form, headers: parts.headers }
    }

    /// Returns a URL parameter, or `None` if the parameter is missing or empty.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(found, value)| found == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    /// Returns a URL parameter, which may be an empty string.
    ///
    /// # Errors
    /// `Input` if the parameter is missing.
    pub(crate) fn required(&self, name: &str) -> Result<&str> {
        let found = self.query.iter().find(|(found, _)| found == name);
        found
            .map(|(_, value)| value.as_str())
            .ok_or_else(|| Failure::Input(format!("the address has no `{name}`")))
    }

    /// Returns the first value of a form field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.form.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns all values of a form field, in submission order.
    pub(crate) fn fields(&self, name: &str) -> Vec<&str> {
        self.form.iter().filter(|(found, _)| found == name).map(|(_, value)| value.as_str()).collect()
    }
}

fn pairs(text: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(text).into_owned().collect()
}
