//! Connections under TLS: rustls with ring.

mod self_signed;

use std::path::Path;
use std::sync::Arc;
use std::{fmt, fs, io};

use table_core::{Error, Result};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

use crate::fault::ServerFault;
use crate::linger::Lingering;

/// A certificate and its key, with which a server answers by HTTPS alone: HTTP/1.1 and HTTP/2, as a client chooses in its handshake.
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
    /// The name of the certificate's file in the folder of [`self_signed`](Self::self_signed).
    pub const CERTIFICATE: &str = "certificate.pem";
    /// The name of its key's file.
    pub const KEY: &str = "key.pem";

    /// A certificate, followed by those that vouch for it, and its key, from files in PEM.
    ///
    /// # Errors
    /// `Io` for a file that cannot be read; `InvalidInput` for one that is not PEM, and for a key that is not the certificate's.
    pub fn from_files(certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Result<Self> {
        let (certificate, key) = (certificate.as_ref(), key.as_ref());
        // The cause may repeat a line of the key.
        let refuse = |path: &Path| Error::of(ServerFault::Pem(path.to_owned()));
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&read(certificate)?)
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| refuse(certificate))?;
        if chain.is_empty() {
            return Err(refuse(certificate));
        }
        let key = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|_| refuse(key))?;
        let fault = |source| Error::of(ServerFault::Tls(source));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(fault)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(fault)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    /// A certificate of its own making for `localhost` and its names, for 127.0.0.1 and `::1`, and for `names`, which may be addresses. It
    /// is written into a folder, as [`CERTIFICATE`](Self::CERTIFICATE) beside its [`KEY`](Self::KEY), and is the same after a restart. Clients
    /// have to be configured to trust that file.
    ///
    /// # Errors
    /// `Io` for a folder that cannot be written or read; `InvalidInput` for a name that cannot be in a certificate, and for files in the
    /// folder that are something else.
    pub fn self_signed(folder: impl AsRef<Path>, names: &[String]) -> Result<Self> {
        let folder = folder.as_ref();
        self_signed::ensure(folder, names)?;
        Self::from_files(folder.join(Self::CERTIFICATE), folder.join(Self::KEY))
    }

    /// Does the handshake of a connection.
    pub(crate) async fn accept(&self, stream: Lingering) -> io::Result<TlsStream<Lingering>> {
        self.0.accept(stream).await
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls(***)")
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path)
        .map_err(|source| Error::of(ServerFault::File { verb: "read", path: path.to_owned(), source }))
}

#[cfg(test)]
mod tests;
