//! A request as handlers see it: method, path below the account, query, headers, body.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{ACCEPT, AsHeaderName, HOST};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Method};
use table_core::odata::MetadataLevel;
use table_wire::sas::Caller;

use crate::account::Account;
use crate::refusal::Refusal;
use crate::request_id;
use crate::service::Service;

/// The header that says which method is meant (REQ-2). A constant, as other names of headers are that each request is asked for: one that
/// is a text is read, letter by letter, for each look.
const X_HTTP_METHOD: HeaderName = HeaderName::from_static("x-http-method");

/// Room for an account in what URLs begin with.
const ACCOUNT: usize = 36;

/// The version that is answered where a request does not say one.
pub(crate) const VERSION: &str = "2019-02-02";

/// A request as handlers see it.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) service: Service,
    /// The request's identifier, which the answer and the log have.
    pub(crate) id: String,
    pub(crate) method: Method,
    /// As sent, for the signature.
    pub(crate) raw_path: String,
    pub(crate) raw_query: String,
    /// Below the account, decoded, without the slash at its front.
    pub(crate) path: String,
    /// What URLs of this account begin with.
    pub(crate) base: String,
    /// Whether the secondary is addressed, which is read-only (ACC-2).
    pub(crate) secondary: bool,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) caller: Caller,
}

impl Exchange {
    /// The request before its account is known.
    pub(crate) fn new(service: Service, parts: Parts, caller: Caller) -> Self {
        let authority = parts.uri.authority().map(Authority::as_str);
        let host = authority.or_else(|| parts.headers.get(HOST)?.to_str().ok()).unwrap_or_default();
        let scheme = if caller.secure { "https://" } else { "http://" };
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
            secondary: false,
            headers: parts.headers,
            body: Bytes::new(),
            caller,
        }
    }

    /// Finds the account, in the path (ACC-2) or as the first label of the host (ACC-1), and what follows it. A host such as
    /// `contoso.table.…` goes before the path, so that a table may have the name of an account.
    pub(crate) fn locate<'a>(&mut self, accounts: &'a [Account]) -> Result<&'a Account, Refusal> {
        let rest = self.raw_path.strip_prefix('/').unwrap_or(&self.raw_path);
        let (first, below) = rest.split_once('/').unwrap_or((rest, ""));
        let (_, host) = self.base.split_once("://").unwrap_or_default();
        let (label, domain) = host.split_once('.').unwrap_or(("", ""));
        let in_host = || find(accounts, label).map(|found| (found, rest, false));
        let in_path = || find(accounts, first).map(|found| (found, below, true));
        let of_service = ["table.", "queue."].iter().any(|service| domain.starts_with(service));
        let found = if of_service { in_host().or_else(in_path) } else { in_path().or_else(in_host) };
        let ((account, secondary), path, in_path) = found.ok_or_else(unknown_account)?;
        let path = table_wire::percent::decode(path)
            .ok_or_else(|| Refusal::input("The path is not percent-encoded UTF-8."))?;
        if in_path {
            self.base.push('/');
            self.base.push_str(first);
        }
        (self.path, self.secondary) = (path.into_owned(), secondary);
        Ok(account)
    }

    /// Takes the front off `/account-secondary/account/…`, which the vendor's Python client sends for the secondary in path style: it
    /// signs the path of the primary, and puts the host and path of the secondary before it. Whether the path has that form.
    pub(crate) fn undouble(&mut self, account: &str) -> bool {
        let front = format!("/{account}-secondary");
        let rest =
            self.raw_path.strip_prefix(&front).filter(|rest| rest.starts_with(&format!("/{account}/")));
        let Some(rest) = rest.map(str::to_owned) else { return false };
        self.raw_path = rest;
        self.path = self.path.split_once('/').map(|(_, path)| path.to_owned()).unwrap_or_default();
        true
    }

    /// The method that is meant (REQ-2).
    pub(crate) fn verb(&self) -> Result<&str, Refusal> {
        let mut tunnelled = self.headers.get_all(X_HTTP_METHOD).iter();
        let Some(first) = tunnelled.next() else { return Ok(self.method.as_str()) };
        if tunnelled.next().is_some() {
            return Err(Refusal::new(400, "XMethodIncorrectCount", "X-HTTP-Method is sent more than once."));
        }
        if self.method != Method::POST {
            return Err(Refusal::new(
                400,
                "XMethodNotUsingPost",
                "X-HTTP-Method is sent with another verb than POST.",
            ));
        }
        match first.to_str() {
            Ok(verb @ ("MERGE" | "PUT" | "DELETE" | "PATCH" | "GET")) => Ok(verb),
            _ => Err(Refusal::new(400, "XMethodIncorrectValue", "X-HTTP-Method names another method.")),
        }
    }

    pub(crate) fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A parameter of the query, decoded.
    pub(crate) fn query(&self, name: &str) -> Option<Cow<'_, str>> {
        let mut pairs = form_urlencoded::parse(self.raw_query.as_bytes());
        pairs.find(|(found, _)| found == name).map(|(_, value)| value)
    }

    pub(crate) fn query_is(&self, name: &str, value: &str) -> bool {
        self.query(name).is_some_and(|found| found.eq_ignore_ascii_case(value))
    }

    /// A parameter that is a whole number.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &'static str) -> Result<Option<T>, Refusal> {
        let text = self.query(name);
        text.map(|text| text.parse().map_err(|_| bad_parameter(name))).transpose()
    }

    /// The level of metadata that is asked for: `$format` before `Accept` (JSON-1, JSON-2).
    pub(crate) fn level(&self) -> Result<MetadataLevel, Refusal> {
        let format = self.query("$format");
        let wanted = format.as_deref().or_else(|| self.header(ACCEPT)).unwrap_or("*/*");
        let level = wanted.split(',').find_map(|one| {
            let any = || matches!(one.split(';').next().map(str::trim), Some("*/*" | "application/*"));
            MetadataLevel::from_media_type(one.trim()).or_else(|| any().then_some(MetadataLevel::Minimal))
        });
        level.ok_or_else(|| {
            Refusal::new(415, "AtomFormatNotSupported", "Atom is not supported: ask for application/json.")
        })
    }

    /// The body as text.
    pub(crate) fn text(&self) -> Result<&str, Refusal> {
        std::str::from_utf8(&self.body)
            .map_err(|_| Refusal::new(400, "InvalidXmlDocument", "The body is not UTF-8."))
    }
}

/// The account of a name, and whether it is that of its secondary.
fn find<'a>(accounts: &'a [Account], name: &str) -> Option<(&'a Account, bool)> {
    let named = |wanted: &str| accounts.iter().find(|account| account.name() == wanted);
    let secondary = || named(name.strip_suffix("-secondary")?);
    named(name).map(|account| (account, false)).or_else(|| secondary().map(|account| (account, true)))
}

fn unknown_account() -> Refusal {
    Refusal::new(
        404,
        "ResourceNotFound",
        "The request names no account of this server, in its path or its host.",
    )
}

pub(crate) fn bad_parameter(name: &str) -> Refusal {
    let message = format!("The value of the query parameter `{name}` is not valid.");
    Refusal::new(400, "InvalidQueryParameterValue", message)
}
