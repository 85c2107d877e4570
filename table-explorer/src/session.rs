//! The session of a browser: it starts with a single-use token in the first address, continues with a cookie, and each form contains a token.

use std::sync::{Mutex, PoisonError};

use http::HeaderMap;
use http::header::{COOKIE, HOST, ORIGIN};
use uuid::Uuid;

use crate::failure::{Failure, Result};

/// The secrets of one explorer process.
pub(crate) struct Session {
    /// The token in the first address; `None` after it was used.
    first: Mutex<Option<String>>,
    /// The name of the cookie. It is random, so two explorers on one machine do not overwrite each other's cookies.
    name: String,
    cookie: String,
    form: String,
}

impl std::fmt::Debug for Session {
    /// Omits the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Returns 244 random bits as text.
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
        let name = format!("tables-{}", Uuid::new_v4().simple());
        Self { first: Mutex::new(Some(secret())), name, cookie: secret(), form: secret() }
    }

    pub(crate) fn first_path(&self) -> String {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.as_ref().map_or_else(|| "/".to_owned(), |token| format!("/?token={token}"))
    }

    /// Consumes the token in the first address. Returns the cookie to set if the token is correct and unused.
    pub(crate) fn begin(&self, token: &str) -> Option<String> {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if !first.as_deref().is_some_and(|expected| is_equal(expected, token)) {
            return None;
        }
        *first = None;
        Some(format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.name, self.cookie))
    }

    /// Returns `true` if the request contains the session's cookie.
    pub(crate) fn is_open(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.name && is_equal(value, &self.cookie))
    }

    /// Returns the token for forms.
    pub(crate) fn form_token(&self) -> &str {
        &self.form
    }

    /// Checks that a form was sent by a page of this session.
    ///
    /// # Errors
    /// `Forbidden` if the token is wrong, or if another site sent the request.
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

/// Checks that a request names the host to which it was sent. This prevents DNS rebinding.
///
/// # Errors
/// `Forbidden` if it names a different host.
pub(crate) fn check_host(headers: &HeaderMap, host: &str) -> Result<String> {
    let named = headers.get(HOST).and_then(|named| named.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').map(|(_, port)| port).unwrap_or_default();
    let own =
        [host.to_owned(), format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")];
    if own.iter().any(|own| own == named) {
        return Ok(named.to_owned());
    }
    Err(Failure::Forbidden(format!("the host `{named}` is not this explorer; open http://{host}/")))
}
