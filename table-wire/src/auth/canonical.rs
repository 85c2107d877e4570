//! Strings to sign: canonicalized requests (AUTH-2 to AUTH-7, AUTH-20 to AUTH-24).

use http::header::{self, AsHeaderName, HeaderMap, HeaderName};

// The header names are constants, so lookups do not parse a name.
const X_MS_DATE: HeaderName = HeaderName::from_static("x-ms-date");
const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

/// The signed parts of a request, as sent.
#[derive(Clone, Copy, Debug)]
pub struct SignedParts<'a> {
    /// The HTTP method in upper case.
    pub method: &'a str,
    /// The percent-encoded path, as sent. The emulator's paths start with the account name.
    pub path: &'a str,
    /// The percent-encoded query, as sent, without `?`. Empty if the request has no query.
    pub query: &'a str,
    /// The request headers.
    pub headers: &'a HeaderMap,
    /// The body length in bytes.
    pub length: usize,
}

impl<'a> SignedParts<'a> {
    fn header(&self, name: impl AsHeaderName) -> &'a str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the value of `x-ms-date`, or of `Date` if `x-ms-date` is missing. An empty `x-ms-date` counts as present (AUTH-4).
    pub(super) fn date(&self) -> &'a str {
        self.header(if self.headers.contains_key(X_MS_DATE) { X_MS_DATE } else { header::DATE })
    }

    /// Returns the date line for schemes that sign all `x-ms-` headers (AUTH-20). The line is empty if the request has an `x-ms-date` header, because these
    /// schemes already sign it.
    fn date_line(&self) -> &'a str {
        if self.headers.contains_key(X_MS_DATE) { "" } else { self.date() }
    }

    /// Returns the query parameters with decoded names and values.
    fn pairs(&self) -> form_urlencoded::Parse<'a> {
        form_urlencoded::parse(self.query.as_bytes())
    }

    /// Appends `/account/path` and, if the query has a `comp` parameter, `?comp=…` (AUTH-6). The case of the name is ignored. Otherwise, `Comp` would not be
    /// signed, although a server might accept it.
    fn resource(&self, account: &str, text: &mut String) {
        for piece in ["/", account, self.path] {
            text.push_str(piece);
        }
        if let Some((_, comp)) = self.pairs().find(|(name, _)| name.eq_ignore_ascii_case("comp")) {
            text.push_str("?comp=");
            text.push_str(&comp);
        }
    }

    /// Joins the lines and ends each with a line feed. The returned string has capacity for the resource, which the caller appends.
    fn lines(&self, lines: &[&str], account: &str) -> String {
        let room: usize = lines.iter().map(|line| line.len() + 1).sum();
        let mut text = String::with_capacity(room + account.len() + self.path.len() + 32);
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// Returns the two-line string to sign for the table service's `SharedKeyLite` (AUTH-2).
pub(super) fn shared_key_table_lite(parts: SignedParts<'_>, account: &str) -> String {
    let mut text = parts.lines(&[parts.date()], account);
    parts.resource(account, &mut text);
    text
}

/// Returns the five-line string to sign for the table service's `SharedKey`, which does not cover `x-ms-` headers (AUTH-3).
pub(super) fn shared_key_table(parts: SignedParts<'_>, account: &str) -> String {
    let lines = [parts.method, parts.header(CONTENT_MD5), parts.header(header::CONTENT_TYPE), parts.date()];
    let mut text = parts.lines(&lines, account);
    parts.resource(account, &mut text);
    text
}

/// Returns the string to sign for `SharedKey` of the queue and blob services (AUTH-20). It consists of twelve lines, the `x-ms-` headers, and the resource with
/// the complete query.
pub(super) fn shared_key(parts: SignedParts<'_>, account: &str) -> String {
    let length = if parts.length == 0 { String::new() } else { parts.length.to_string() };
    let lines = [
        parts.method,
        parts.header(header::CONTENT_ENCODING),
        parts.header(header::CONTENT_LANGUAGE),
        &length,
        parts.header(CONTENT_MD5),
        parts.header(header::CONTENT_TYPE),
        parts.date_line(),
        parts.header(header::IF_MODIFIED_SINCE),
        parts.header(header::IF_MATCH),
        parts.header(header::IF_NONE_MATCH),
        parts.header(header::IF_UNMODIFIED_SINCE),
        parts.header(header::RANGE),
    ];
    let mut text = parts.lines(&lines, account);
    canonical_headers(parts.headers, &mut text);
    canonical_resource(parts, account, &mut text);
    text
}

/// Returns the string to sign for `SharedKeyLite` of the queue and blob services (AUTH-24). It consists of four lines, the `x-ms-` headers, and the resource.
/// Only `comp` is included from the query.
pub(super) fn shared_key_lite(parts: SignedParts<'_>, account: &str) -> String {
    let lines =
        [parts.method, parts.header(CONTENT_MD5), parts.header(header::CONTENT_TYPE), parts.date_line()];
    let mut text = parts.lines(&lines, account);
    canonical_headers(parts.headers, &mut text);
    parts.resource(account, &mut text);
    text
}

/// Appends the `x-ms-` headers in sorted order, one per line (AUTH-21).
fn canonical_headers(headers: &HeaderMap, text: &mut String) {
    // A `HeaderName` is always in lower case.
    let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
    names.retain(|name| name.starts_with("x-ms-"));
    names.sort_unstable();
    for name in names {
        let values: Vec<_> =
            headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).map(str::trim).collect();
        text.push_str(name);
        text.push(':');
        text.push_str(&values.join(","));
        text.push('\n');
    }
}

/// Appends the path as sent, then the query parameters in sorted order with decoded values (AUTH-22, AUTH-23).
fn canonical_resource(parts: SignedParts<'_>, account: &str, text: &mut String) {
    text.push('/');
    text.push_str(account);
    text.push_str(parts.path);
    let mut pairs: Vec<_> = parts.pairs().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    pairs.sort_unstable();
    let mut before: Option<&str> = None;
    for (name, value) in &pairs {
        if before == Some(name) {
            text.push(',');
        } else {
            text.push('\n');
            text.push_str(name);
            text.push(':');
        }
        text.push_str(value);
        before = Some(name);
    }
}

#[cfg(test)]
mod tests;
