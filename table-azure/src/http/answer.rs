//! Complete responses.

use reqwest::header::HeaderMap;

/// A complete response, with a flag for earlier attempts that may have been applied.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// `true` if an earlier attempt may have applied the operation.
    pub(crate) into_ambiguous: bool,
}

impl Answer {
    /// Returns the text of a header. Empty if the header is missing or is not text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns `true` for a success status (2xx).
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
