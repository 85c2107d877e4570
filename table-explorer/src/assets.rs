//! The style sheet and the script, embedded in the executable.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, HeaderValue};
use http::{Response, StatusCode};

use crate::response::{self, Body};

/// The style sheet.
pub(crate) const STYLE: &str = include_str!("../assets/style.css");
/// The script.
pub(crate) const SCRIPT: &str = include_str!("../assets/script.js");
/// The package version. It is part of asset URLs, so browsers reload assets after an update.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns a response with the named asset, or `None` if the name is unknown.
pub(crate) fn asset(name: &str) -> Option<Response<Body>> {
    let (media_type, text) = match name {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "script.js" => ("text/javascript; charset=utf-8", SCRIPT),
        _ => return None,
    };
    let mut response = response::whole(StatusCode::OK, media_type, Bytes::from_static(text.as_bytes()));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Some(response)
}
