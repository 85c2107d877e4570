//! A service's answer, whole, and what is known about the attempts before it.

use reqwest::header::HeaderMap;

/// A whole answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// Whether the operation may have been applied before the attempt that this is the answer of.
    pub(crate) into_ambiguous: bool,
}

impl Answer {
    /// A header as text; empty if it is missing or no text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Whether the service did what was asked (2xx).
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
