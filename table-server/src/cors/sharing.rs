//! The response headers that allow a web page to read the response.

use http::{HeaderMap, HeaderValue, header};

use super::list::{covers, items};

/// The origins whose pages may read a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Every origin.
    All { exposed: String },
    /// Only the request's origin, which the rule names.
    One { origin: String, exposed: String },
    /// The request's origin is not allowed, but other origins may be.
    Others,
}

impl Sharing {
    /// Adds the CORS headers to a response.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        let (origin, exposed) = match self {
            Self::All { exposed } => ("*", exposed.as_str()),
            Self::One { origin, exposed } => (origin.as_str(), exposed.as_str()),
            Self::Others => ("", ""),
        };
        let exposed = named(exposed, headers);
        let mut set = |name, value: &str| {
            if let (false, Ok(value)) = (value.is_empty(), HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        };
        set(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        set(header::ACCESS_CONTROL_EXPOSE_HEADERS, &exposed);
        if matches!(self, Self::One { .. }) {
            set(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
        }
        if !matches!(self, Self::All { .. }) {
            set(header::VARY, "Origin");
        }
    }
}

/// Returns the names in a list, with each pattern replaced by the response's headers that match it.
fn named(list: &str, headers: &HeaderMap) -> String {
    let mut names: Vec<&str> = Vec::new();
    for item in items(list) {
        if item.ends_with('*') {
            names.extend(headers.keys().map(http::HeaderName::as_str).filter(|name| covers(item, name)));
        } else {
            names.push(item);
        }
    }
    names.join(",")
}
