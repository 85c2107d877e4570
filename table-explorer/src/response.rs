//! Responses (pages, assets, redirects and streams) with security headers.

use std::io;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use maud::Markup;

/// A response body, either complete or a stream. If a stream fails, the HTTP server must abort the response, so the client does not mistake the body for
/// complete.
pub type Body = UnsyncBoxBody<Bytes, io::Error>;

/// The content security policy. It forbids inline code, other origins and framing. The referrer policy in [`COMMON`] is not `no-referrer`, because with that
/// policy, browsers would omit the origin when they submit forms.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The headers of every response.
const COMMON: [(HeaderName, HeaderValue); 6] = [
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// Returns a response with a complete body.
pub(crate) fn whole(status: StatusCode, media_type: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Full::new(body.into()).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    finish(&mut response, media_type);
    response
}

/// Returns a page as a response.
pub(crate) fn page(status: StatusCode, markup: Markup) -> Response<Body> {
    whole(status, "text/html; charset=utf-8", markup.into_string())
}

/// Returns a redirect to a page, in response to a submitted form or to the URL that starts the session.
pub(crate) fn see_other(location: &str) -> Response<Body> {
    let mut response = whole(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    if let Ok(location) = HeaderValue::from_str(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// Returns a response with a streamed body.
pub(crate) fn stream(
    media_type: &'static str,
    chunks: impl futures_util::Stream<Item = io::Result<Bytes>> + Send + 'static,
) -> Response<Body> {
    use futures_util::TryStreamExt;
    let frames = chunks.map_ok(Frame::data);
    let mut response = Response::new(BodyExt::boxed_unsync(StreamBody::new(frames)));
    finish(&mut response, media_type);
    response
}

fn finish(response: &mut Response<Body>, media_type: &'static str) {
    let headers = response.headers_mut();
    for (name, value) in COMMON {
        headers.insert(name, value);
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
