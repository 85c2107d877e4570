//! TLS connections, with rustls and ring.

mod self_signed;

use std::path::Path;
use std::sync::Arc;
use std::{fmt, fs, io};

use table_core::{Error, Result};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::sign::{CertifiedKey, SigningKey, SingleCertAndKey};
use tokio_rustls::server::TlsStream;

use crate::fault::ServerFault;

/// A certificate and its key. A server with a certificate serves only HTTPS; the handshake negotiates HTTP/1.1 or HTTP/2.
///
/// ```
/// use table_core::Engine;
/// use table_server::{Account, Config, Server, Tls};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let folder = tempfile::tempdir()?;
/// let mut config = Config::on_loopback(Account::emulator(Engine::in_memory())?).ephemeral();
/// config.tls = Some(Tls::self_signed(folder.path(), &[])?);
/// let server = Server::bind(config).await?;
/// assert!(server.connection_string("devstoreaccount1").unwrap().contains("TableEndpoint=https://127.0.0.1:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl Tls {
    /// The file name of the certificate created by [`self_signed`](Self::self_signed).
    pub const CERTIFICATE: &str = "certificate.pem";
    /// The file name of the key created by [`self_signed`](Self::self_signed).
    pub const KEY: &str = "key.pem";

    /// Reads a certificate with its chain, and its key, from PEM files.
    ///
    /// # Errors
    /// `Io` if a file cannot be read. `InvalidInput` if a file is not PEM, or if the key is of an unsupported type or does not match the certificate.
    pub fn from_files(certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Result<Self> {
        Self::read(certificate.as_ref(), key.as_ref(), "")
    }

    /// Reads a certificate and its key. `help` is appended to the error message for unusable files.
    fn read(certificate: &Path, key: &Path, help: &'static str) -> Result<Self> {
        // The parser's error is not used, because its text may contain a line of the key.
        let refuse = |path: &Path| Error::of(ServerFault::Pem { path: path.to_owned(), help });
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&read(certificate)?)
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| refuse(certificate))?;
        if chain.is_empty() {
            return Err(refuse(certificate));
        }
        let key = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|_| refuse(key))?;
        let fault = |source| Error::of(ServerFault::Tls(source));
        let provider = Arc::new(ring::default_provider());
        let signing = provider.key_provider.load_private_key(key).map_err(fault)?;
        if !belongs(&chain, &*signing) {
            return Err(Error::of(ServerFault::OtherKey { path: certificate.to_owned(), help }));
        }
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(fault)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(CertifiedKey::new(chain, signing))));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    /// Creates a self-signed certificate for `localhost`, `*.table.localhost`, `*.queue.localhost`, 127.0.0.1, `::1`, and `names`, which may include addresses.
    ///
    /// The certificate and its key are written into a folder as [`CERTIFICATE`](Self::CERTIFICATE) and [`KEY`](Self::KEY), and reused after a restart.
    /// Configure clients to trust it.
    ///
    /// # Errors
    /// `Io` if the folder cannot be written or read. `InvalidInput` if a certificate cannot contain one of the names, or if the folder contains unusable files
    /// with these two names.
    pub fn self_signed(folder: impl AsRef<Path>, names: &[String]) -> Result<Self> {
        let folder = folder.as_ref();
        self_signed::ensure(folder, names)?;
        Self::read(&folder.join(Self::CERTIFICATE), &folder.join(Self::KEY), self_signed::HELP)
    }

    /// Performs a connection's TLS handshake.
    pub(crate) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
    ) -> io::Result<TlsStream<S>> {
        self.0.accept(stream).await
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls(***)")
    }
}

/// Returns `true` if the first certificate contains the key's public half, or if the public half is unknown.
///
/// The corresponding check in rustls parses the certificate, so it rejects X.509 v1 certificates, which are common in client tests.
fn belongs(chain: &[CertificateDer<'_>], key: &dyn SigningKey) -> bool {
    match (chain.first(), key.public_key()) {
        (Some(certificate), Some(public)) => {
            certificate.windows(public.len()).any(|window| window == public.as_ref())
        }
        _ => true,
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path)
        .map_err(|source| Error::of(ServerFault::File { verb: "read", path: path.to_owned(), source }))
}

#[cfg(test)]
mod tests;
