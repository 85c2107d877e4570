//! The headers that let a browser show an answer to a page.

use http::{HeaderMap, HeaderValue, header};

use super::list::{covers, items};

/// What an answer says to a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Pages of every origin may see it.
    All { exposed: String },
    /// Pages of the origin that asked may.
    One { origin: String, exposed: String },
    /// This origin may not; another one may.
    Others,
}

impl Sharing {
    /// Adds its headers to those of an answer.
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

/// The names of a list; a pattern stands for the headers of the answer that it covers.
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
