//! A log of the requests to an account, with their routing. Also the type of the account's responses.

use std::sync::{Mutex, PoisonError};

use azure_core::http::Request as HttpRequest;
use azure_data_cosmos_driver::in_memory_emulator::RequestObserver;

/// The requests received since the last call to [`Emulator::sent`](super::Emulator::sent).
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Vec<Sent>>);

impl Log {
    /// Removes the recorded requests from the log and returns them.
    pub(super) fn take(&self) -> Vec<Sent> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A request as recorded in the log, with its routing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sent {
    /// The HTTP method, such as `GET`.
    pub method: String,
    /// The path of the URL.
    pub path: String,
    /// `true` if the request queries items.
    pub is_query: bool,
    /// The number of the physical partition, if the request specifies one.
    pub partition: Option<String>,
    /// The bounds of the range of effective partition keys, if the request specifies a range.
    pub range: Option<(String, String)>,
    /// The partition key, if the request specifies one.
    pub key: Option<String>,
    /// The body length, in bytes.
    pub bytes: usize,
}

/// A response from the account.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The HTTP status code.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The response body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Creates a response without headers, such as one from a gateway between the client and the account.
    #[must_use]
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into() }
    }
}

impl RequestObserver for Log {
    fn on_request(&self, request: &HttpRequest) {
        let header = |wanted: &str| {
            let mut headers = request.headers().iter();
            headers.find(|(name, _)| name.as_str() == wanted).map(|(_, value)| value.as_str().to_owned())
        };
        let sent = Sent {
            method: request.method().as_str().to_owned(),
            path: request.url().path().to_owned(),
            is_query: header("x-ms-documentdb-isquery")
                .is_some_and(|value| value.eq_ignore_ascii_case("true")),
            partition: header("x-ms-documentdb-partitionkeyrangeid"),
            range: header("x-ms-start-epk").zip(header("x-ms-end-epk")),
            key: header("x-ms-documentdb-partitionkey"),
            bytes: request.body().len().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default(),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sent);
    }
}
