//! Flags for HTTPS.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use table_core::{Error, Result};
use table_server::Config;

use crate::fault::ProgramFault;
use crate::file::File;

/// The program's flags for HTTPS. Each requires the `tls` feature.
#[derive(Debug, Default, Args)]
pub(crate) struct TlsFlags {
    /// Serve HTTPS with this certificate, followed by its chain, in PEM.
    #[arg(
        id = "tls_certificate",
        long = "tls-certificate",
        env = "TABLE_SERVER_TLS_CERTIFICATE",
        value_name = "FILE",
        requires = "tls_key"
    )]
    certificate: Option<PathBuf>,
    /// The certificate's private key, in PEM format.
    #[arg(
        id = "tls_key",
        long = "tls-key",
        env = "TABLE_SERVER_TLS_KEY",
        value_name = "FILE",
        requires = "tls_certificate"
    )]
    key: Option<PathBuf>,
    /// Serve HTTPS with a self-signed certificate, written into this folder as `certificate.pem`.
    #[arg(
        id = "tls_self_signed",
        long = "tls-self-signed",
        env = "TABLE_SERVER_TLS_SELF_SIGNED",
        value_name = "FOLDER"
    )]
    self_signed: Option<PathBuf>,
}

/// The source of the certificate: two files, or the folder of a self-signed certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Files { certificate: PathBuf, key: PathBuf },
    SelfSigned(PathBuf),
}

impl TlsFlags {
    /// Keeps only the flags for which `counts` returns `true`.
    pub(crate) fn retain(&mut self, counts: impl Fn(&'static str) -> bool) {
        self.certificate = self.certificate.take().filter(|_| counts("tls_certificate"));
        self.key = self.key.take().filter(|_| counts("tls_key"));
        self.self_signed = self.self_signed.take().filter(|_| counts("tls_self_signed"));
    }

    /// Returns the source of the certificate, or `None` if none is configured. The configuration file is used only if no flag is given.
    pub(crate) fn source(&self, file: &File) -> Result<Option<Source>> {
        let own = (&self.certificate, &self.key, &self.self_signed);
        let files = (&file.tls_certificate, &file.tls_key, &file.tls_self_signed);
        match if own == (&None, &None, &None) { files } else { own } {
            (Some(certificate), Some(key), None) => {
                Ok(Some(Source::Files { certificate: certificate.clone(), key: key.clone() }))
            }
            (None, None, folder) => Ok(folder.clone().map(Source::SelfSigned)),
            _ => Err(Error::of(ProgramFault::HalfTls)),
        }
    }

    /// Configures HTTPS if the flags or the file request it. For a self-signed certificate, returns a line with its path.
    ///
    /// # Errors
    /// `InvalidInput` if the settings are incomplete or mutually exclusive, if a certificate or key is invalid, or if the program was built without TLS. `Io`
    /// if a file cannot be read or written.
    pub(crate) fn apply(&self, file: &File, listen: IpAddr, config: &mut Config) -> Result<String> {
        match self.source(file)? {
            None => Ok(String::new()),
            Some(source) => secure(source, listen, config),
        }
    }
}

#[cfg(feature = "tls")]
fn secure(source: Source, listen: IpAddr, config: &mut Config) -> Result<String> {
    use table_server::Tls;

    let (tls, line) = match source {
        Source::Files { certificate, key } => (Tls::from_files(certificate, key)?, String::new()),
        Source::SelfSigned(folder) => {
            let line = format!("certificate {}\n", folder.join(Tls::CERTIFICATE).display());
            (Tls::self_signed(folder, &[listen.to_string()])?, line)
        }
    };
    config.tls = Some(tls);
    Ok(line)
}

#[cfg(not(feature = "tls"))]
fn secure(_: Source, _: IpAddr, _: &mut Config) -> Result<String> {
    Err(Error::of(ProgramFault::NoTls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_override_the_file_and_a_certificate_needs_its_key() {
        let files = |certificate: Option<&str>, key: Option<&str>, folder: Option<&str>| {
            let path = |text: Option<&str>| text.map(PathBuf::from);
            (path(certificate), path(key), path(folder))
        };
        let source = |flags: (Option<PathBuf>, Option<PathBuf>, Option<PathBuf>), own: (_, _, _)| {
            let flags = TlsFlags { certificate: flags.0, key: flags.1, self_signed: flags.2 };
            let file =
                File { tls_certificate: own.0, tls_key: own.1, tls_self_signed: own.2, ..File::default() };
            flags.source(&file)
        };
        let none = || files(None, None, None);
        assert_eq!(source(none(), none()).unwrap(), None);
        let made = Some(Source::SelfSigned("tls".into()));
        assert_eq!(source(files(None, None, Some("tls")), files(Some("c"), Some("k"), None)).unwrap(), made);
        let read = Some(Source::Files { certificate: "c".into(), key: "k".into() });
        assert_eq!(source(none(), files(Some("c"), Some("k"), None)).unwrap(), read);
        assert!(source(none(), files(Some("c"), None, None)).is_err());
        assert!(source(none(), files(Some("c"), Some("k"), Some("tls"))).is_err());
    }
}
