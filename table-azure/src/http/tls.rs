//! TLS configuration: rustls with ring and the system's certificates.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use table_core::{Error, Result};

use crate::http::fault::HttpFault;

/// Returns the TLS configuration. If `needed` is `false`, it trusts no certificates, and the system's certificates are not read.
pub(crate) fn config(needed: bool) -> Result<ClientConfig> {
    let refuse = |error| Error::of(HttpFault::Tls(error));
    // The provider is passed explicitly, so this does not depend on a process-wide default that another crate may have set.
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(refuse)?;
    let builder = if needed {
        builder.with_platform_verifier().map_err(refuse)?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
}
