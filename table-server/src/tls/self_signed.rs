//! Creates self-signed certificates.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use rcgen::{Certificate, CertificateParams, DistinguishedName, DnType, KeyPair};
use table_core::{Error, Result};
use uuid::Uuid;

use super::Tls;
use crate::fault::ServerFault;

/// The names in every self-signed certificate. Clients that put the account into the host name need the names with `*`.
const OWN: [&str; 5] = ["localhost", "*.table.localhost", "*.queue.localhost", "127.0.0.1", "::1"];

/// Writes a certificate and its key into a folder, unless both files exist. No file is overwritten: if only the key exists, a certificate
/// is created for it.
///
/// # Errors
/// `InvalidInput` if the certificate exists without its key, if the key file is not a key, or if a certificate cannot contain one of the names; `Io` if the
/// folder cannot be written or read.
pub(super) fn ensure(folder: &Path, names: &[String]) -> Result<()> {
    let (certificate, key) = (folder.join(Tls::CERTIFICATE), folder.join(Tls::KEY));
    match (certificate.exists(), key.exists()) {
        (true, true) => return Ok(()),
        (true, false) => return Err(Error::of(ServerFault::NoKey { certificate, key: Tls::KEY })),
        (false, _) => {}
    }
    let at = |verb, path: &Path| {
        let path = path.to_owned();
        move |source| Error::of(ServerFault::File { verb, path, source })
    };
    fs::create_dir_all(folder).map_err(at("write", folder))?;
    if !key.exists() {
        let signing_key = KeyPair::generate().map_err(|source| Error::of(ServerFault::SelfSigned(source)))?;
        // The key is written first, because a later call can create the certificate for an existing key.
        create(&key, 0o600, &signing_key.serialize_pem()).map_err(at("write", &key))?;
    }
    // Another server that starts at the same time may have created the key.
    let text = fs::read_to_string(&key).map_err(at("read", &key))?;
    let signing_key = KeyPair::from_pem(&text).map_err(|_| Error::of(ServerFault::Pem(key)))?;
    let made = signed(names, &signing_key).map_err(|source| Error::of(ServerFault::SelfSigned(source)))?;
    create(&certificate, 0o644, &made.pem()).map_err(at("write", &certificate))
}

/// Creates a certificate for a key.
fn signed(names: &[String], signing_key: &KeyPair) -> std::result::Result<Certificate, rcgen::Error> {
    let mut all: Vec<_> = OWN.map(str::to_owned).to_vec();
    all.extend(names.iter().filter(|name| !OWN.contains(&name.as_str())).cloned());
    let mut params = CertificateParams::new(all)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "table-server");
    params.self_signed(signing_key)
}

/// Creates a file, unless it exists. On Unix, the file has the given permissions. The file gets its name only when it is complete, so a crash leaves no partial
/// file under this name, and another server finds none.
fn create(path: &Path, mode: u32, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let temporary = path.with_extension(format!("{}.new", Uuid::new_v4().simple()));
    let written = options.open(&temporary).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let named = written.and_then(|()| match fs::hard_link(&temporary, path) {
        Err(_) if path.exists() => Ok(()),
        // Not every file system has hard links.
        Err(_) => fs::rename(&temporary, path),
        linked => linked,
    });
    // After a rename, the temporary name no longer exists, and this call fails.
    let _ = fs::remove_file(&temporary);
    named
}
