//! Self-signed certificates.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use rcgen::{CertificateParams, CertifiedKey, DistinguishedName, DnType, KeyPair};
use table_core::{Error, Result};

use super::Tls;
use crate::fault::ServerFault;

/// The names in every self-signed certificate. Names with `*` are for accounts in the host name.
const OWN: [&str; 5] = ["localhost", "*.table.localhost", "*.queue.localhost", "127.0.0.1", "::1"];

/// Writes a certificate and its key into a folder, unless both exist.
pub(super) fn ensure(folder: &Path, names: &[String]) -> Result<()> {
    let (certificate, key) = (folder.join(Tls::CERTIFICATE), folder.join(Tls::KEY));
    if certificate.exists() && key.exists() {
        return Ok(());
    }
    let CertifiedKey { cert, signing_key } =
        made(names).map_err(|source| Error::of(ServerFault::SelfSigned(source)))?;
    let at = |path: &Path| {
        let path = path.to_owned();
        |source| Error::of(ServerFault::File { verb: "write", path, source })
    };
    fs::create_dir_all(folder).map_err(at(folder))?;
    // The key first: a missing certificate is created again, with its key.
    secret(&key, &signing_key.serialize_pem()).map_err(at(&key))?;
    fs::write(&certificate, cert.pem()).map_err(at(&certificate))
}

fn made(names: &[String]) -> std::result::Result<CertifiedKey<KeyPair>, rcgen::Error> {
    let mut all: Vec<_> = OWN.map(str::to_owned).to_vec();
    all.extend(names.iter().filter(|name| !OWN.contains(&name.as_str())).cloned());
    let mut params = CertificateParams::new(all)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "table-server");
    let signing_key = KeyPair::generate()?;
    Ok(CertifiedKey { cert: params.self_signed(&signing_key)?, signing_key })
}

/// Writes a file that only its owner can read.
fn secret(path: &Path, text: &str) -> io::Result<()> {
    // Overwriting an existing file would keep its permissions.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}
