//! Tests of HTTPS configured by flags.

use crate::child::program;

#[cfg(feature = "tls")]
#[test]
fn a_self_signed_certificate_is_named_and_persists() {
    use std::fs;
    use std::io::Read;
    use std::net::TcpStream;

    use crate::child::Running;

    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("tls");
    let certificate = || fs::read_to_string(place.join("certificate.pem")).unwrap();
    let mut first = None;
    for _ in 0..2 {
        let mut command = program();
        command.args(["--memory", "--tls-self-signed"]).arg(&place);
        let mut server = Running::start(command);
        assert_eq!(server.line(), "devstoreaccount1 in memory\n");
        assert_eq!(server.line(), format!("certificate {}\n", place.join("certificate.pem").display()));
        assert_eq!(*first.get_or_insert_with(certificate), certificate());
        // A connection that does not start with a handshake is closed.
        let mut stream = TcpStream::connect(server.tables).unwrap();
        std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(!answer.starts_with(b"HTTP"));
        assert!(server.end("-TERM").status.success());
    }
    // The generated files can also be passed as flags.
    let mut command = program();
    command.args(["--memory", "--tls-certificate"]).arg(place.join("certificate.pem"));
    command.arg("--tls-key").arg(place.join("key.pem"));
    assert!(Running::start(command).end("-TERM").status.success());
}

#[cfg(not(feature = "tls"))]
#[test]
fn a_program_without_tls_says_how_to_build_it() {
    let output = program().args(["--memory", "--tls-self-signed", "tls"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("--features tls"), "{error}");
}
