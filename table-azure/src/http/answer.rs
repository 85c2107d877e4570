//! Complete HTTP responses.

use reqwest::header::HeaderMap;
use table_core::{Error, Result};

use crate::failure::AnswerFault;

/// A complete HTTP response.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Returns the value of a header, or an empty string if the header is missing or is not text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the continuation token in the given header, or `None` if the header is missing or empty.
    ///
    /// # Errors
    /// `InternalError` if the value is not UTF-8. It must not be treated as missing, which would mark the end of the result.
    pub(crate) fn position(&self, operation: &str, name: &'static str) -> Result<Option<String>> {
        let Some(value) = self.headers.get(name) else { return Ok(None) };
        let text = std::str::from_utf8(value.as_bytes())
            .map_err(|_| Error::of(AnswerFault::Header { operation: operation.to_owned(), name }))?;
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }

    /// Returns `true` if the status indicates success (2xx).
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
