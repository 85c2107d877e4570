//! A parsed request: method, path below the account, query, headers and body.

use std::borrow::{Borrow, Cow};

use bytes::Bytes;
use http::header::{ACCEPT, AsHeaderName, GetAll, HOST};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version};
use table_core::odata::MetadataLevel;
use table_wire::sas::Caller;
use tokio::time::Instant;

use crate::account::Account;
use crate::negotiate;
use crate::refusal::Refusal;
use crate::request_id;
use crate::service::Service;

/// The header with the method of a tunnelled request (REQ-2). It is a constant, because a lookup by text would first parse the name.
const X_HTTP_METHOD: HeaderName = HeaderName::from_static("x-http-method");

/// The number of bytes reserved for the account name when a base URL is built.
const ACCOUNT: usize = 36;

/// A parsed request.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) service: Service,
    /// The request's identifier, which appears in the response and in the log.
    pub(crate) id: String,
    pub(crate) method: Method,
    /// The path exactly as sent, because the signature covers it.
    pub(crate) raw_path: String,
    pub(crate) raw_query: String,
    /// The decoded path below the account, without its leading slash.
    pub(crate) path: String,
    /// The account's base URL.
    pub(crate) base: String,
    /// `true` for HTTP/1.0 and 1.1.
    pub(crate) is_http_1: bool,
    /// `true` for a request to the account's secondary endpoint (ACC-2), whose tables are read-only.
    pub(crate) secondary: bool,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) caller: Caller,
    /// The time at which the request's head was received.
    pub(crate) begun: Instant,
}

impl Exchange {
    /// Creates the exchange for a request before its account is determined.
    pub(crate) fn new(service: Service, parts: Parts, caller: Caller) -> Self {
        let authority = parts.uri.authority().map(Authority::as_str);
        let host = authority.or_else(|| parts.headers.get(HOST)?.to_str().ok()).unwrap_or_default();
        let scheme = scheme(caller);
        let mut base = String::with_capacity(scheme.len() + host.len() + ACCOUNT);
        base.push_str(scheme);
        base.push_str(host);
        Self {
            service,
            id: request_id::next().to_string(),
            method: parts.method,
            raw_path: parts.uri.path().to_owned(),
            raw_query: parts.uri.query().unwrap_or_default().to_owned(),
            path: String::new(),
            base,
            is_http_1: parts.version < Version::HTTP_2,
            secondary: false,
            headers: parts.headers,
            body: Bytes::new(),
            caller,
            begun: Instant::now(),
        }
    }

    /// Finds the account in the path (ACC-2) or in the first label of the host (ACC-1), and stores the rest of the path. A host such as `contoso.table.…` takes
    /// precedence, because the path's first segment may be a table with the same name as an account.
    ///
    /// # Errors
    /// 404 if neither the path nor the host names an account of this server.
    pub(crate) fn locate<'a, A: Borrow<Account>>(&mut self, accounts: &'a [A]) -> Result<&'a A, Refusal> {
        let rest = self.raw_path.strip_prefix('/').unwrap_or(&self.raw_path);
        let (first, below) = rest.split_once('/').unwrap_or((rest, ""));
        let (label, domain) = self.host().split_once('.').unwrap_or(("", ""));
        // Host names are case-insensitive (RFC 9110, section 4.2.3).
        let in_host = || find(accounts, &label.to_ascii_lowercase()).map(|found| (found, rest, false));
        let in_path = || find(accounts, first).map(|found| (found, below, true));
        let begins = |service: &str| {
            domain.get(..service.len()).is_some_and(|start| start.eq_ignore_ascii_case(service))
        };
        let of_service = begins("table.") || begins("queue.");
        let found = if of_service { in_host().or_else(in_path) } else { in_path().or_else(in_host) };
        let ((account, secondary), path, in_path) = found.ok_or_else(unknown_account)?;
        let path = table_wire::percent::decode(path)
            .ok_or_else(|| Refusal::input("the path is not percent-encoded UTF-8"))?;
        if in_path {
            self.base.push('/');
            self.base.push_str(first);
        }
        (self.path, self.secondary) = (path.into_owned(), secondary);
        Ok(account)
    }

    /// Removes the first segment of `/account-secondary/account/…`. The Azure SDK for Python sends such a path to a path-style secondary endpoint: it signs the
    /// primary's path, and sends it with the prefix `/account-secondary`. Returns `true` if the segment was removed.
    pub(crate) fn undouble(&mut self, account: &str) -> bool {
        let front = format!("/{account}-secondary");
        let rest =
            self.raw_path.strip_prefix(&front).filter(|rest| rest.starts_with(&format!("/{account}/")));
        let Some(rest) = rest.map(str::to_owned) else { return false };
        self.raw_path = rest;
        self.path = self.path.split_once('/').map(|(_, path)| path.to_owned()).unwrap_or_default();
        true
    }

    /// Returns the host and port from the request line, or else from the `Host` header. After [`locate`](Self::locate) has found the account in the path, the
    /// result also contains `/` and the account's name.
    pub(crate) fn host(&self) -> &str {
        self.base.get(scheme(self.caller).len()..).unwrap_or_default()
    }

    /// Returns the method of the operation. A request to the Table service may tunnel it in a `POST` (REQ-2). For queues, the `X-HTTP-Method` header is
    /// ignored, because Queue service signatures do not cover it and queue clients do not send it.
    ///
    /// # Errors
    /// `XMethodIncorrectCount` if `X-HTTP-Method` has several values, `XMethodNotUsingPost` if the request is not a `POST`, `XMethodIncorrectValue`
    /// if the value is not a known method.
    pub(crate) fn verb(&self) -> Result<&str, Refusal> {
        if self.service != Service::Tables {
            return Ok(self.method.as_str());
        }
        verb(self.method.as_str(), texts(self.headers.get_all(X_HTTP_METHOD)))
    }

    /// Returns a header that must not be repeated.
    ///
    /// # Errors
    /// `InvalidInput` if the header occurs several times or is not text. The header must not be treated as missing, because it may be a condition such as
    /// `If-Match`.
    pub(crate) fn single(&self, name: &HeaderName) -> Result<Option<&str>, Refusal> {
        let mut values = self.headers.get_all(name).iter();
        let Some(first) = values.next() else { return Ok(None) };
        let text = first.to_str().ok().filter(|_| values.next().is_none());
        text.map(Some).ok_or_else(|| Refusal::input(format!("`{name}` must be one header in ASCII")))
    }

    /// Returns all values of a header.
    pub(crate) fn all(&self, name: &HeaderName) -> impl Iterator<Item = &str> {
        texts(self.headers.get_all(name))
    }

    pub(crate) fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns a decoded query parameter. Names are case-insensitive, as in the signed text of a request (AUTH-22).
    pub(crate) fn query(&self, name: &str) -> Option<Cow<'_, str>> {
        parameter(&self.raw_query, name)
    }

    pub(crate) fn query_is(&self, name: &str, value: &str) -> bool {
        self.query(name).is_some_and(|found| found.eq_ignore_ascii_case(value))
    }

    /// Returns the value of an integer parameter, or `None` if the parameter is missing.
    ///
    /// # Errors
    /// `OutOfRangeQueryParameterValue` if the number is outside the range of its type, `InvalidQueryParameterValue` if the text is not a number.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &'static str) -> Result<Option<T>, Refusal> {
        let text = self.query(name);
        let refuse = |text: &str| {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return bad_parameter(name);
            }
            Refusal::new(
                400,
                "OutOfRangeQueryParameterValue",
                format!("the value of `{name}` is out of range"),
            )
        };
        text.map(|text| text.parse().map_err(|_| refuse(&text))).transpose()
    }

    /// Returns the metadata level requested with `$format` or, without `$format`, with `Accept` (JSON-1, JSON-2).
    ///
    /// # Errors
    /// `AtomFormatNotSupported` if the client does not accept JSON.
    pub(crate) fn level(&self) -> Result<MetadataLevel, Refusal> {
        negotiate::requested(self.query("$format").as_deref(), self.all(&ACCEPT))
    }

    /// Returns the body as text.
    ///
    /// # Errors
    /// `InvalidXmlDocument` if the body is not UTF-8.
    pub(crate) fn text(&self) -> Result<&str, Refusal> {
        std::str::from_utf8(&self.body).map_err(|_| Refusal::xml("the body is not UTF-8"))
    }
}

/// Returns a decoded parameter of a query string. Its name is case-insensitive.
pub(crate) fn parameter<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// Returns the scheme of the account's base URL.
const fn scheme(caller: Caller) -> &'static str {
    if caller.secure { "https://" } else { "http://" }
}

/// Returns the method of an operation. `tunnelled` contains the values of the `X-HTTP-Method` header (REQ-2).
///
/// # Errors
/// `XMethodIncorrectCount` if `X-HTTP-Method` has several values, `XMethodNotUsingPost` if the request is not a `POST`, `XMethodIncorrectValue` if
/// the value is not a known method.
pub(crate) fn verb<'a>(
    method: &'a str,
    mut tunnelled: impl Iterator<Item = &'a str>,
) -> Result<&'a str, Refusal> {
    let Some(first) = tunnelled.next() else { return Ok(method) };
    if tunnelled.next().is_some() {
        return Err(Refusal::new(400, "XMethodIncorrectCount", ""));
    }
    if method != "POST" {
        return Err(Refusal::new(400, "XMethodNotUsingPost", ""));
    }
    match first {
        "MERGE" | "PUT" | "DELETE" | "PATCH" | "GET" => Ok(first),
        _ => Err(Refusal::new(400, "XMethodIncorrectValue", "use MERGE, PUT, DELETE, PATCH or GET")),
    }
}

/// Checks that a URL's query is UTF-8. Decoders replace invalid bytes with U+FFFD, so a filter would compare with a string the client did not send (QRY-2).
///
/// # Errors
/// `InvalidInput` if the query is not UTF-8.
pub(crate) fn check_query(query: &str) -> Result<(), Refusal> {
    let mut decoded = Vec::with_capacity(query.len());
    let mut rest = query.as_bytes();
    while let [byte, after @ ..] = rest {
        let digit = |at: usize| after.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        let escaped = digit(0).zip(digit(1)).and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        // A `%` not followed by two hexadecimal digits is a literal percent sign.
        let escaped = escaped.filter(|_| *byte == b'%');
        decoded.push(escaped.unwrap_or(*byte));
        rest = after.get(if escaped.is_some() { 2.. } else { 0.. }).unwrap_or_default();
    }
    let legal = std::str::from_utf8(&decoded).is_ok();
    legal.then_some(()).ok_or_else(|| Refusal::input("the query of the URL is not percent-encoded UTF-8"))
}

/// Returns `true` if a header value consists only of printable ASCII characters and tabs.
pub(crate) fn is_ascii_text(value: &str) -> bool {
    value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
}

/// Returns the values of a header as strings. A non-ASCII value is returned as an empty string.
fn texts(values: GetAll<'_, HeaderValue>) -> impl Iterator<Item = &str> {
    values.into_iter().map(|value| value.to_str().unwrap_or_default())
}

/// Returns the account with the given name, and `true` if the name denotes the account's secondary endpoint.
fn find<'a, A: Borrow<Account>>(accounts: &'a [A], name: &str) -> Option<(&'a A, bool)> {
    let named = |wanted: &str| accounts.iter().find(|account| (*account).borrow().name() == wanted);
    let secondary = || named(name.strip_suffix("-secondary")?);
    named(name).map(|account| (account, false)).or_else(|| secondary().map(|account| (account, true)))
}

fn unknown_account() -> Refusal {
    let help = "neither the path nor the host names an account of this server";
    Refusal { is_early: true, ..Refusal::new(404, "ResourceNotFound", help) }
}

pub(crate) fn bad_parameter(name: &str) -> Refusal {
    Refusal::new(400, "InvalidQueryParameterValue", format!("the value of `{name}` is not valid"))
}
