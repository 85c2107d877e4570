//! An answer before it is HTTP: status, headers, body.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response};
use http_body_util::Full;

use crate::account::Service;
use crate::exchange::Exchange;
use crate::refusal::Refusal;

/// What is sent back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn body(self, media_type: impl Into<String>, body: impl Into<String>) -> Self {
        Self { body: body.into(), ..self.header("Content-Type", media_type) }
    }

    pub(crate) fn xml(status: u16, body: impl Into<String>) -> Self {
        Self::new(status).body("application/xml", body)
    }

    /// The answer to a request that is not granted; of tables in the form that the client reads (ERR-1, ERR-2), of queues always in
    /// XML (QUE-1).
    pub(crate) fn refused(refusal: &Refusal, exchange: &Exchange) -> Self {
        let error = table_wire::NewError {
            code: refusal.code,
            message: &refusal.message,
            index: refusal.index,
            request_id: &exchange.id,
            time: chrono::Utc::now(),
        };
        let answer = Self::new(refusal.status).header("x-ms-error-code", refusal.code);
        let answer = if refusal.status == 503 { answer.header("Retry-After", "1") } else { answer };
        match exchange.level() {
            _ if exchange.service != Service::Tables => {
                answer.body("application/xml", error.to_storage_xml())
            }
            Ok(level) => answer.body(json(level), error.to_json()),
            Err(_) => answer.body("application/xml", error.to_odata_xml()),
        }
    }

    pub(crate) fn into_response(self, exchange: &Exchange) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(Bytes::from(self.body)));
        *response.status_mut() =
            http::StatusCode::from_u16(self.status).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        let mut put = |name: &str, value: &str| {
            // Names are ours; a value that is no header's, such as an identifier with a control character, is left out.
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        };
        put("server", concat!("table-server/", env!("CARGO_PKG_VERSION")));
        put("x-ms-request-id", &exchange.id);
        put("x-ms-version", exchange.version());
        put("x-content-type-options", "nosniff");
        put("cache-control", "no-cache");
        if let Some(id) = exchange.header("x-ms-client-request-id") {
            put("x-ms-client-request-id", id);
        }
        for (name, value) in &self.headers {
            put(name, value);
        }
        response
    }
}

/// The type of an answer at a level (JSON-8).
pub(crate) fn json(level: table_core::odata::MetadataLevel) -> String {
    format!("{};streaming=true;charset=utf-8", level.media_type())
}
