//! The transport of requests: TCP, or TLS.

/// The transport of a server's requests.
#[derive(Clone, Debug)]
pub(crate) enum Transport {
    /// Plain TCP.
    Plain,
    /// TLS over TCP.
    #[cfg(feature = "tls")]
    Secure(crate::tls::Tls),
}

impl Transport {
    pub(crate) const fn is_secure(&self) -> bool {
        !matches!(self, Self::Plain)
    }

    /// Returns the scheme of the server's URLs.
    pub(crate) const fn scheme(&self) -> &'static str {
        if self.is_secure() { "https" } else { "http" }
    }
}
