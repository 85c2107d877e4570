//! Endpoints: service base URLs (ACC-1 to ACC-3).

mod fault;

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;
use table_core::{Error, Result};

use crate::auth::EMULATOR_ACCOUNT;
pub(crate) use fault::EndpointFault;

/// The maximum length in bytes of a URL that the HTTP client can send. The service's own limit is about half as large (FIL-8).
const MOST_BYTES: usize = u16::MAX as usize - 1;

/// The base URL of a service, either host-style or path-style, without a trailing slash (ACC-2).
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    base: String,
    host: String,
    secure: bool,
    path: String,
}

impl Endpoint {
    /// Parses a base URL such as `https://contoso.table.core.windows.net`.
    ///
    /// # Errors
    /// `InvalidInput` if the text is not an `http` or `https` URL, or if it contains a query, a fragment or user information. These parts may contain a secret,
    /// which must be passed as the credential instead.
    pub(crate) fn new(base: &str) -> Result<Self> {
        let url = Url::parse(base.trim_end_matches('/')).map_err(|_| Error::of(EndpointFault::NotAUrl))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Error::of(EndpointFault::Scheme));
        }
        if url.query().is_some()
            || url.fragment().is_some()
            || !url.username().is_empty()
            || url.password().is_some()
        {
            return Err(Error::of(EndpointFault::MoreThanAHost));
        }
        let host = url.host_str().ok_or_else(|| Error::of(EndpointFault::NoHost))?;
        Ok(Self {
            base: url.as_str().trim_end_matches('/').to_owned(),
            host: host.to_owned(),
            secure: url.scheme() == "https",
            path: url.path().trim_end_matches('/').to_owned(),
        })
    }

    /// Returns the base URL, which is the prefix of every request URL.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Returns the host without the port.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Returns `true` if the endpoint uses TLS.
    pub(crate) const fn is_secure(&self) -> bool {
        self.secure
    }

    /// Returns `true` if the account name is in the path, as in the URLs of emulators (ACC-2).
    pub(crate) fn is_path_style(&self) -> bool {
        !self.path.is_empty()
    }

    /// Returns `true` if the host is this machine: a loopback address or `localhost`.
    pub(crate) fn is_loopback(&self) -> bool {
        let address = self.host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        matches!(&*self.host, "localhost" | "localhost.")
            || address.is_ok_and(|address| address.to_canonical().is_loopback())
    }

    /// Returns `true` if the endpoint belongs to an emulator (ACC-2).
    ///
    /// An emulator's host is this machine or a subdomain of `localhost`, or its path is the emulator's account name. No real account has this name.
    pub(crate) fn is_emulator(&self) -> bool {
        let account = self.path.strip_prefix('/').map(|path| path.strip_suffix("-secondary").unwrap_or(path));
        self.is_loopback() || self.host.ends_with(".localhost") || account == Some(EMULATOR_ACCOUNT)
    }

    /// Returns the account's secondary endpoint. Its host or path contains the account name followed by `-secondary` (ACC-1, ACC-2).
    pub(crate) fn secondary(&self) -> Result<Self> {
        if self.is_path_style() {
            return Self::new(&format!("{}-secondary", self.base));
        }
        let Some((account, rest)) = self.host.split_once('.') else {
            return Err(Error::of(EndpointFault::NoAccount));
        };
        Self::new(&self.base.replacen(&self.host, &format!("{account}-secondary.{rest}"), 1))
    }

    /// Returns the URL for a path and a query. Both must already be percent-encoded.
    ///
    /// # Errors
    /// `InvalidInput` if the URL is too long to send (FIL-8), or if its path would address a different resource. A path could do so because URL parsing removes
    /// `.` and `..` (REQ-5).
    pub(crate) fn url(&self, path: &str, query: &str) -> Result<Url> {
        let mark = if query.is_empty() { "" } else { "?" };
        let bytes = self.base.len() + path.len() + mark.len() + query.len();
        if bytes > MOST_BYTES {
            return Err(Error::of(EndpointFault::TooLong { bytes, most: MOST_BYTES }));
        }
        let url = Url::parse(&format!("{}{path}{mark}{query}", self.base))
            .map_err(|error| Error::of(EndpointFault::Request(error)))?;
        if url.path().strip_prefix(&*self.path) != Some(path) {
            return Err(Error::of(EndpointFault::Path));
        }
        Ok(url)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

#[cfg(test)]
mod tests {
    use table_core::ErrorCode;

    use super::*;

    #[test]
    fn acc_1_and_2_host_style_and_path_style() {
        let service = Endpoint::new("https://contoso.table.core.windows.net/").unwrap();
        assert_eq!(
            service.url("/Tables", "").unwrap().as_str(),
            "https://contoso.table.core.windows.net/Tables"
        );
        assert!(service.is_secure() && !service.is_path_style() && !service.is_loopback());
        let emulator = Endpoint::new("http://127.0.0.1:10002/devstoreaccount1").unwrap();
        let url = emulator.url("/$batch", "timeout=1").unwrap();
        assert_eq!(url.as_str(), "http://127.0.0.1:10002/devstoreaccount1/$batch?timeout=1");
        let secondaries = [&service, &emulator].map(|endpoint| endpoint.secondary().unwrap().base);
        assert_eq!(secondaries[0], "https://contoso-secondary.table.core.windows.net");
        assert_eq!(secondaries[1], "http://127.0.0.1:10002/devstoreaccount1-secondary");
        assert!(!emulator.is_secure() && emulator.is_path_style() && emulator.is_loopback());
    }

    #[test]
    fn req_5_a_path_that_parsing_would_change_is_refused() {
        for base in ["https://contoso.queue.core.windows.net", "http://127.0.0.1:10001/devstoreaccount1"] {
            let endpoint = Endpoint::new(base).unwrap();
            for path in
                ["/work/messages/.", "/work/messages/..", "/..", "/%2e", "/a/%2E./b", "/a\\..", "/a\tb"]
            {
                let error = endpoint.url(path, "popreceipt=AAAA").unwrap_err();
                assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("REQ-5")), "{path}");
            }
            let entity = table_core::odata::entity_link("Employee", "O'Neil & co", "..");
            for path in
                ["/", "/Tables('Employee')", "/$batch", "/Employee()", &format!("/{entity}"), "/a//b/..."]
            {
                assert_eq!(endpoint.url(path, "").unwrap().as_str(), format!("{base}{path}"));
            }
        }
    }

    #[test]
    fn acc_2_loopback_and_emulator_endpoints_are_recognised() {
        for (endpoint, loopback, emulator) in [
            ("http://localhost", true, true),
            ("http://LOCALHOST.:10002", true, true),
            ("http://127.1:10002", true, true),
            ("http://127.8.9.10", true, true),
            ("http://[::1]", true, true),
            ("http://[::ffff:127.0.0.1]", true, true),
            ("http://devstoreaccount1.table.localhost", false, true),
            ("http://azurite/devstoreaccount1", false, true),
            ("http://azurite/devstoreaccount1-secondary", false, true),
            ("http://azurite/other", false, false),
            ("http://localhost.evil.com", false, false),
            ("http://evil.com/tables/devstoreaccount1", false, false),
            ("http://evillocalhost", false, false),
            ("http://127.0.0.1.evil.com", false, false),
            ("http://[::2]", false, false),
            ("http://0.0.0.0", false, false),
        ] {
            let endpoint = Endpoint::new(endpoint).unwrap();
            assert_eq!((endpoint.is_loopback(), endpoint.is_emulator()), (loopback, emulator), "{endpoint}");
        }
    }

    #[test]
    fn an_invalid_endpoint_is_refused_without_being_repeated() {
        for text in [
            "",
            "contoso",
            "ftp://contoso",
            "https://a.b/?sig=c2VjcmV0",
            "https://me:c2VjcmV0@a.b/",
            "https://c2VjcmV0@a.b",
            "https://127.0.0.1:c2VjcmV0@a.b",
            "https://a.b#c2VjcmV0",
        ] {
            let error = Endpoint::new(text).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidInput);
            assert!(!error.to_string().contains("c2VjcmV0"), "{error}");
        }
    }
}
