//! Browser sessions. A session starts with a single-use token in the first URL and continues with a cookie. Each form contains another token.

use std::sync::{Mutex, PoisonError};

use http::HeaderMap;
use http::header::{COOKIE, HOST, ORIGIN};
use uuid::Uuid;

use crate::failure::{Failure, Result};

/// The secrets of one explorer process.
pub(crate) struct Session {
    /// The token in the first URL, or `None` after it has been used.
    first: Mutex<Option<String>>,
    cookie: String,
    form: String,
}

impl std::fmt::Debug for Session {
    /// Formats the session without revealing its secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

/// Returns a string with 244 random bits.
fn secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// Compares two strings in constant time.
fn is_equal(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |found, (one, other)| found | (one ^ other));
    one.len() == other.len() && differences == 0
}

impl Session {
    pub(crate) fn new() -> Self {
        Self { first: Mutex::new(Some(secret())), cookie: secret(), form: secret() }
    }

    pub(crate) fn first_path(&self) -> String {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.as_ref().map_or_else(|| "/".to_owned(), |token| format!("/?token={token}"))
    }

    /// Consumes the single-use token. Returns the cookie to set, or `None` if the token is wrong or already used.
    ///
    /// The cookie name contains the port of `host`, so cookies of concurrent explorers do not collide. An explorer replaces the cookie of an earlier one on the
    /// same port.
    pub(crate) fn begin(&self, token: &str, host: &str) -> Option<String> {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if !first.as_deref().is_some_and(|expected| is_equal(expected, token)) {
            return None;
        }
        *first = None;
        Some(format!("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name(host), self.cookie))
    }

    /// Returns `true` if the request contains the session's cookie.
    pub(crate) fn is_open(&self, headers: &HeaderMap, host: &str) -> bool {
        let own = cookie_name(host);
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == own && is_equal(value, &self.cookie))
    }

    /// Returns the form token.
    pub(crate) fn form_token(&self) -> &str {
        &self.form
    }

    /// Checks that a form was submitted from a page of this session.
    ///
    /// # Errors
    /// `Forbidden` if the token is wrong or the request comes from another site.
    pub(crate) fn check_form(&self, headers: &HeaderMap, token: Option<&str>, host: &str) -> Result<()> {
        let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
        let is_own = origin.is_none_or(|origin| {
            origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) == Some(host)
        });
        if is_own && token.is_some_and(|token| is_equal(token, &self.form)) {
            return Ok(());
        }
        let text =
            "the form was not sent by a page of this session; load the page again and repeat the change";
        Err(Failure::Forbidden(text.to_owned()))
    }
}

/// Returns `true` if the request is a user's navigation to the page. A request without browser headers counts as one.
pub(crate) fn is_navigation(headers: &HeaderMap) -> bool {
    let is = |name: &str, expected: &str| headers.get(name).is_none_or(|value| value == expected);
    let is_prefetch =
        |name: &str| headers.get(name).is_some_and(|value| value.as_bytes().starts_with(b"prefetch"));
    is("sec-fetch-mode", "navigate") && !is_prefetch("sec-purpose") && !is_prefetch("purpose")
}

/// Returns the port in a server address such as `127.0.0.1:8000`.
fn port(host: &str) -> &str {
    host.rsplit_once(':').map(|(_, port)| port).unwrap_or_default()
}

fn cookie_name(host: &str) -> String {
    format!("tables-{}", port(host))
}

/// Checks that the `Host` header names this server, which prevents DNS rebinding. Browsers omit port 80 in this header.
///
/// # Errors
/// `Forbidden` if the header contains a different host.
pub(crate) fn check_host(headers: &HeaderMap, host: &str) -> Result<String> {
    let named = headers.get(HOST).and_then(|named| named.to_str().ok()).unwrap_or_default();
    let port = port(host);
    let own =
        [host.to_owned(), format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")];
    let is_own = |own: &String| own == named || own.strip_suffix(":80").is_some_and(|own| own == named);
    if own.iter().any(is_own) {
        return Ok(named.to_owned());
    }
    Err(Failure::Forbidden(format!("the host `{named}` is not this explorer; open http://{host}/")))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(name: http::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn a_host_without_a_port_is_that_of_port_80() {
        for (named, own, is_own) in [
            ("127.0.0.1", "127.0.0.1:80", true),
            ("localhost", "127.0.0.1:80", true),
            ("[::1]", "[::1]:80", true),
            ("127.0.0.1:80", "127.0.0.1:80", true),
            ("127.0.0.1", "127.0.0.1:8080", false),
            ("evil.example", "127.0.0.1:80", false),
            ("", "127.0.0.1:80", false),
        ] {
            assert_eq!(check_host(&headers(HOST, named), own).is_ok(), is_own, "{named} at {own}");
        }
        let session = Session::new();
        let origin = headers(ORIGIN, "http://127.0.0.1");
        assert!(session.check_form(&origin, Some(session.form_token()), "127.0.0.1").is_ok());
    }

    #[test]
    fn a_later_explorer_at_the_same_port_replaces_the_cookie() {
        let begin = |host: &str| {
            let session = Session::new();
            let token = session.first_path().strip_prefix("/?token=").unwrap().to_owned();
            let cookie = session.begin(&token, host).unwrap();
            (session, cookie.split(';').next().unwrap().to_owned())
        };
        let name = |cookie: &str| cookie.split('=').next().unwrap().to_owned();
        let (one, two, other) = (begin("127.0.0.1:8000"), begin("127.0.0.1:8000"), begin("127.0.0.1:8001"));
        assert_eq!(name(&one.1), name(&two.1));
        assert_ne!(name(&one.1), name(&other.1));
        let sent = headers(COOKIE, &format!("{}; {}", two.1, other.1));
        assert!(two.0.is_open(&sent, "127.0.0.1:8000") && other.0.is_open(&sent, "127.0.0.1:8001"));
        assert!(!one.0.is_open(&sent, "127.0.0.1:8000"));
    }
}
