//! The server's responses before they are converted to HTTP: status, headers and body.

use std::borrow::Cow;
use std::fmt::Write;

use http::{HeaderName, HeaderValue, Response, header};
use table_core::odata::MetadataLevel;
use table_core::{ETag, Error};

use crate::cors::Sharing;
use crate::cost::Cost;
use crate::exchange::Exchange;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::version;

/// The headers that every response contains.
const COMMON: [(HeaderName, HeaderValue); 3] = [
    (header::SERVER, HeaderValue::from_static(concat!("table-server/", env!("CARGO_PKG_VERSION")))),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
];
const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");
const CLIENT_REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-client-request-id");
const VERSION: HeaderName = HeaderName::from_static("x-ms-version");
/// The `Keep-Alive` header. Clients that read it close idle connections before the server does.
const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// The response to a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The metadata headers `x-ms-meta-…`, with names chosen by the client.
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) cost: Cost,
    /// The status of the rejected operation in a batch. The batch response itself has status 202.
    pub(crate) rejected_part: Option<u16>,
    /// The internal failure that caused the response, for the log.
    pub(crate) internal: Option<Error>,
    /// `true` if the connection is closed after this response.
    pub(crate) closes: bool,
    sharing: Option<Sharing>,
}

impl Answer {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn body(self, media_type: impl Into<Cow<'static, str>>, body: impl Into<String>) -> Self {
        Self { body: body.into(), ..self.header("Content-Type", media_type) }
    }

    pub(crate) fn cost(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }

    /// Returns the status for the log and the metrics: the status of the rejected operation in a batch, if any; otherwise, the response's status.
    pub(crate) fn outcome(&self) -> u16 {
        self.rejected_part.unwrap_or(self.status)
    }

    pub(crate) fn shared(self, sharing: Sharing) -> Self {
        Self { sharing: Some(sharing), ..self }
    }

    pub(crate) fn xml(status: u16, body: impl Into<String>) -> Self {
        Self::new(status).body("application/xml", body)
    }

    /// Returns the response to a rejected request. For the Table service, the body has a format that the client accepts (ERR-1, ERR-2); for the Queue service,
    /// it is always XML (QUE-1).
    pub(crate) fn refused(refusal: Refusal, exchange: &Exchange) -> Self {
        let is_storage = exchange.service != Service::Tables || refusal.is_early;
        let error = refusal.error(&exchange.id);
        let answer = Self::new(refusal.status).header("x-ms-error-code", refusal.code);
        let answer = if refusal.status == 503 { answer.header("Retry-After", "1") } else { answer };
        let answer = match exchange.level() {
            _ if is_storage => answer.body("application/xml", error.to_storage_xml()),
            Ok(level) => answer.body(json(level), error.to_json()),
            Err(_) => answer.body("application/xml", error.to_odata_xml()),
        };
        Self { internal: refusal.internal, closes: refusal.closes, ..answer }
    }

    pub(crate) fn into_response(self, exchange: &Exchange) -> Response<String> {
        let mut response = Response::new(self.body);
        *response.status_mut() =
            http::StatusCode::from_u16(self.status).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.reserve(8 + self.headers.len());
        for (name, value) in COMMON {
            headers.insert(name, value);
        }
        if let Ok(id) = HeaderValue::from_str(&exchange.id) {
            headers.insert(REQUEST_ID, id);
        }
        headers.insert(VERSION, HeaderValue::from_static(version::VERSION));
        if exchange.is_http_1 && self.closes {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        } else if exchange.is_http_1 {
            headers.insert(KEEP_ALIVE, HeaderValue::from_static("timeout=5"));
        }
        if let Some(id) = exchange.headers.get(CLIENT_REQUEST_ID) {
            headers.insert(CLIENT_REQUEST_ID, id.clone());
        }
        for (name, value) in self.headers {
            // A header whose value would be invalid, such as a table name with a control character, is omitted.
            let value = match value {
                Cow::Borrowed(value) => Ok(HeaderValue::from_static(value)),
                Cow::Owned(value) => HeaderValue::try_from(value),
            };
            if let (Some(name), Ok(value)) = (own_name(name), value) {
                headers.insert(name, value);
            }
        }
        for (name, value) in self.metadata {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        }
        if let Some(sharing) = self.sharing {
            sharing.write(headers);
        }
        response
    }
}

/// Converts a header name. The names used in responses to entity requests become constants, so they are neither parsed nor copied.
fn own_name(name: &str) -> Option<HeaderName> {
    const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
    const DATA_SERVICE_ID: HeaderName = HeaderName::from_static("dataserviceid");
    match name {
        "Content-Type" => Some(header::CONTENT_TYPE),
        "ETag" => Some(header::ETAG),
        "Location" => Some(header::LOCATION),
        "Preference-Applied" => Some(PREFERENCE_APPLIED),
        "DataServiceId" => Some(DATA_SERVICE_ID),
        other => HeaderName::try_from(other).ok(),
    }
}

/// Returns an ETag as text, with a single allocation.
pub(crate) fn etag_text(etag: &ETag) -> String {
    let mut text = String::with_capacity(64);
    // Writing to a string never fails.
    let _ = write!(text, "{etag}");
    text
}

/// Returns the content type of a response with the given metadata level (JSON-8).
pub(crate) const fn json(level: MetadataLevel) -> &'static str {
    match level {
        MetadataLevel::None => "application/json;odata=nometadata;streaming=true;charset=utf-8",
        MetadataLevel::Minimal => "application/json;odata=minimalmetadata;streaming=true;charset=utf-8",
        MetadataLevel::Full => "application/json;odata=fullmetadata;streaming=true;charset=utf-8",
    }
}
