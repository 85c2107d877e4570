//! The host of an endpoint.

use std::net::IpAddr;

/// The components of an endpoint's URL.
pub(super) struct Host {
    pub(super) name: String,
    pub(super) port: u16,
    pub(super) path: String,
    pub(super) is_https: bool,
}

impl Host {
    /// Returns the host of a URL, or `None` if the text is not an HTTP URL.
    pub(super) fn of(endpoint: &str) -> Option<Self> {
        let (is_https, rest) = match endpoint.split_once("://")? {
            ("https", rest) => (true, rest),
            ("http", rest) => (false, rest),
            _ => return None,
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        // An IPv6 address is enclosed in brackets, because it contains colons.
        let end = authority.find(']').map_or(0, |end| end + 1);
        let (name, port) = match authority[end..].rsplit_once(':') {
            Some((name, port)) => (&authority[..end + name.len()], port.parse().ok()?),
            None => (authority, if is_https { 443 } else { 80 }),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']').to_owned();
        (!name.is_empty()).then(|| Self { name, port, path: format!("/{path}"), is_https })
    }

    /// Returns `true` if the host is this machine.
    pub(super) fn is_loopback(&self) -> bool {
        self.name == "localhost" || self.name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
    }

    /// Returns the host and the port, formatted as in a URL.
    pub(super) fn place(&self) -> String {
        let Self { name, port, .. } = self;
        if name.contains(':') { format!("[{name}]:{port}") } else { format!("{name}:{port}") }
    }
}
