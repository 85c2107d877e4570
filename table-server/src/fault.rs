//! Errors that prevent a server from starting.

use std::io;
#[cfg(feature = "tls")]
use std::path::PathBuf;

use table_core::Fault;

/// An error that prevents a server from starting. Messages never include a secret key.
#[derive(Debug, thiserror::Error, Fault)]
#[fault(InvalidInput)]
pub(crate) enum ServerFault {
    #[error(
        "account `{0}` has the emulator's key, which is public, so other machines could use it; give it a key with \
         `--account {0}=KEY`, or allow it with --public-key-anywhere (in a container whose port only you can reach), or listen on loopback"
    )]
    #[fault("AUTH-30")]
    Exposed(String),
    #[error(
        "tokens with unchecked signatures are accepted only on loopback; listen there, or configure an issuer and its keys"
    )]
    #[fault("AUTH-12")]
    Unsigned,
    #[cfg(feature = "tls")]
    #[error("the key set is not a JSON Web Key Set with RSA keys")]
    #[fault("AUTH-12")]
    KeySet,
    #[error("account `{}` is given twice; remove one", .0.escape_debug())]
    Twice(String),
    #[error("the server cannot listen on {address}")]
    #[fault(Io)]
    Listen { address: String, source: io::Error },
    #[cfg(feature = "tls")]
    #[error("cannot {verb} {path}", path = .path.display())]
    #[fault(Io)]
    File { verb: &'static str, path: PathBuf, source: io::Error },
    #[cfg(feature = "tls")]
    #[error("{path} is not a certificate or a key in PEM{help}", path = .path.display())]
    Pem { path: PathBuf, help: &'static str },
    #[cfg(feature = "tls")]
    #[error(
        "{path} has no `{key}` in the same folder; restore the key, or name another folder for a self-signed certificate",
        path = .certificate.display()
    )]
    NoKey { certificate: PathBuf, key: &'static str },
    #[cfg(feature = "tls")]
    #[error("the key is not the key of the first certificate in {path}{help}", path = .path.display())]
    OtherKey { path: PathBuf, help: &'static str },
    #[cfg(feature = "tls")]
    #[error("TLS cannot use the key: {0}")]
    Tls(#[source] tokio_rustls::rustls::Error),
    #[cfg(feature = "tls")]
    #[error("the certificate cannot be created")]
    SelfSigned(#[source] rcgen::Error),
}
