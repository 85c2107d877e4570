//! Creates self-signed certificates.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use rcgen::{Certificate, CertificateParams, DistinguishedName, DnType, KeyPair};
use table_core::{Error, Result};
use uuid::Uuid;

use super::Tls;
use crate::fault::ServerFault;

/// The names in every self-signed certificate. Clients with host-style account names need the wildcard names.
const OWN: [&str; 5] = ["localhost", "*.table.localhost", "*.queue.localhost", "127.0.0.1", "::1"];

/// The advice in the error message if a self-signed certificate's folder contains unusable files.
pub(super) const HELP: &str = "; delete `certificate.pem` and `key.pem` in this folder to create new ones";

/// Writes a certificate and its key into a folder, unless both files exist. No file is overwritten: if only the key exists, a certificate
/// is created for it.
///
/// # Errors
/// `InvalidInput` if the certificate exists without its key, if the key file is not a key, or if a certificate cannot contain one of the names; `Io` if the
/// folder cannot be written or read.
pub(super) fn ensure(folder: &Path, names: &[String]) -> Result<()> {
    ensure_with(folder, names, |from, to| fs::hard_link(from, to))
}

/// A function that creates a hard link to a file, unless a file with the link's name exists.
type Link = fn(&Path, &Path) -> io::Result<()>;

/// Implements [`ensure`]. Tests replace `link` to simulate a file system without hard links.
pub(super) fn ensure_with(folder: &Path, names: &[String], link: Link) -> Result<()> {
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
        create(&key, 0o600, signing_key.serialize_pem().as_bytes(), link).map_err(at("write", &key))?;
    }
    // Another server starting at the same time may have created the key.
    let text = fs::read_to_string(&key).map_err(at("read", &key))?;
    let refuse = |_| Error::of(ServerFault::Pem { path: key.clone(), help: HELP });
    let signing_key = KeyPair::from_pem(&text).map_err(refuse)?;
    let made = signed(names, &signing_key).map_err(|source| Error::of(ServerFault::SelfSigned(source)))?;
    create(&certificate, 0o644, made.pem().as_bytes(), link).map_err(at("write", &certificate))
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

/// Creates a file, unless it exists. On Unix, the file has the given permissions. The file gets its name only once it is complete, so a crash leaves no partial
/// file under this name, and another server never finds one. On a file system without hard links, this is not guaranteed.
fn create(path: &Path, mode: u32, text: impl Read, link: Link) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.new", Uuid::new_v4().simple()));
    let named = write(&temporary, mode, text).and_then(|()| match link(&temporary, path) {
        Err(_) if path.exists() => Ok(()),
        // Without hard links, the file is written directly under its final name, because a rename could replace a file created by another server.
        Err(_) => match write(path, mode, File::open(&temporary)?) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            written => written,
        },
        linked => linked,
    });
    let _ = fs::remove_file(&temporary);
    if let Some(folder) = path.parent() {
        // The key's directory entry must be durable before the certificate is created. Not every file system can sync a folder.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    named
}

/// Writes a new file, and removes it if it cannot be written completely.
///
/// # Errors
/// `AlreadyExists` if the file exists, or the error from reading `text` or writing the file.
fn write(path: &Path, mode: u32, mut text: impl Read) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.open(path)?;
    let written = io::copy(&mut text, &mut file).and_then(|_| file.sync_all());
    if written.is_err() {
        drop(file);
        let _ = fs::remove_file(path);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that fails with a disk full error.
    struct Full;

    impl Read for Full {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    #[test]
    fn a_full_disk_leaves_no_partial_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(Tls::KEY);
        let partial = b"-----BEGIN".chain(Full);
        let error = create(&path, 0o600, partial, |from, to| fs::hard_link(from, to)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// Tests that a file gets its name only once it is complete, so a crash leaves a partial file only under a temporary name.
    #[test]
    fn a_file_gets_its_name_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(Tls::KEY);
        let link: Link = |from, to| {
            assert!(!to.exists());
            assert_eq!(fs::read(from).unwrap(), b"a key");
            fs::hard_link(from, to)
        };
        create(&path, 0o600, &b"a key"[..], link).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a key");
    }
}
