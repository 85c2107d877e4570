//! Tests of certificates from files, and of self-signed certificates.

use std::sync::Barrier;
use std::thread;

use super::*;

#[test]
fn a_self_signed_certificate_is_kept_and_its_key_is_private_to_the_owner() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("tls");
    let text = |name| fs::read_to_string(place.join(name)).unwrap();
    Tls::self_signed(&place, &["storage.contoso.com".to_owned(), "10.0.0.5".to_owned()]).unwrap();
    let first = [text(Tls::CERTIFICATE), text(Tls::KEY)];
    Tls::self_signed(&place, &[]).unwrap();
    assert_eq!([text(Tls::CERTIFICATE), text(Tls::KEY)], first);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(place.join(Tls::KEY)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // This is the state after a crash between writing the two files. A certificate is created for the existing key.
    fs::remove_file(place.join(Tls::CERTIFICATE)).unwrap();
    Tls::self_signed(&place, &[]).unwrap();
    assert_eq!(text(Tls::KEY), first[1]);
    assert_ne!(text(Tls::CERTIFICATE), first[0]);
}

/// Tests that a certificate or key left in the folder by another program is not overwritten.
#[test]
fn a_self_signed_certificate_overwrites_no_file() {
    for (name, content) in [
        (Tls::KEY, "not a key"),
        (Tls::KEY, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
        (Tls::CERTIFICATE, "a certificate"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        fs::write(&file, content).unwrap();
        let error = Tls::self_signed(folder.path(), &[]).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

/// Tests that the error for incomplete or mismatched files, as written by earlier releases, states how to create new ones.
#[test]
fn an_unusable_self_signed_certificate_is_refused_with_help() {
    let own = tempfile::tempdir().unwrap();
    Tls::self_signed(own.path(), &[]).unwrap();
    let other = tempfile::tempdir().unwrap();
    Tls::self_signed(other.path(), &[]).unwrap();
    let text = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let half = |name| text(own.path(), name).split_at(100).0.to_owned();
    for (certificate, key) in [
        (None, half(Tls::KEY)),
        (None, String::new()),
        (Some(half(Tls::CERTIFICATE)), text(own.path(), Tls::KEY)),
        (Some(String::new()), text(own.path(), Tls::KEY)),
        (Some(text(own.path(), Tls::CERTIFICATE)), half(Tls::KEY)),
        (Some(text(own.path(), Tls::CERTIFICATE)), text(other.path(), Tls::KEY)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(Tls::KEY), key).unwrap();
        if let Some(certificate) = certificate {
            fs::write(folder.path().join(Tls::CERTIFICATE), certificate).unwrap();
        }
        let error = Tls::self_signed(folder.path(), &[]).unwrap_err().to_string();
        assert!(error.contains("delete `certificate.pem` and `key.pem`"), "{error}");
        for name in [Tls::CERTIFICATE, Tls::KEY] {
            drop(fs::remove_file(folder.path().join(name)));
        }
        Tls::self_signed(folder.path(), &[]).unwrap();
    }
}

#[test]
fn invalid_certificate_and_key_files_are_refused_without_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    Tls::self_signed(&one, &[]).unwrap();
    Tls::self_signed(&other, &[]).unwrap();
    let broken = folder.path().join("broken.pem");
    let key = fs::read_to_string(one.join(Tls::KEY)).unwrap();
    fs::write(&broken, key.replace("\n-----END", "!\n-----END")).unwrap();
    let secret = key.lines().nth(1).unwrap();
    for (certificate, key, expected) in [
        (one.join(Tls::CERTIFICATE), one.join("missing.pem"), "cannot read"),
        (one.join(Tls::KEY), one.join(Tls::KEY), "not a certificate or a key in PEM"),
        (one.join(Tls::CERTIFICATE), one.join(Tls::CERTIFICATE), "not a certificate or a key in PEM"),
        (one.join(Tls::CERTIFICATE), broken, "not a certificate or a key in PEM"),
        (one.join(Tls::CERTIFICATE), other.join(Tls::KEY), "is not the key of the first certificate"),
    ] {
        let error = format!("{:?}", Tls::from_files(certificate, key).unwrap_err());
        assert!(error.contains(expected) && !error.contains(secret), "{expected}: {error}");
    }
}

/// Tests that servers starting simultaneously on a file system without hard links leave a certificate with its matching key. A server may find an incomplete
/// file there and fail to start.
#[test]
fn servers_that_start_at_once_without_hard_links_leave_a_matching_pair() {
    const SERVERS: usize = 8;
    for _ in 0..30 {
        let folder = tempfile::tempdir().unwrap();
        let barrier = Barrier::new(SERVERS);
        let start = || {
            barrier.wait();
            drop(self_signed::ensure_with(folder.path(), &[], |_, _| Err(io::ErrorKind::Unsupported.into())));
        };
        thread::scope(|scope| (0..SERVERS).for_each(|_| drop(scope.spawn(start))));
        Tls::self_signed(folder.path(), &[]).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}

/// Tests that servers starting simultaneously use the same certificate, and that none of them finds an incomplete file.
#[test]
fn servers_that_start_at_once_share_a_self_signed_certificate() {
    const SERVERS: usize = 8;
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let barrier = Barrier::new(SERVERS);
        let start = || {
            barrier.wait();
            Tls::self_signed(folder.path(), &[]).map(drop)
        };
        let results: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..SERVERS).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
