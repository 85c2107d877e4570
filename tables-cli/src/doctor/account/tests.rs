//! Tests of the steps that need no account.

use super::*;

#[test]
fn endpoints_are_split_into_host_and_port() {
    for (endpoint, name, port, path) in [
        ("https://contoso.table.core.windows.net", "contoso.table.core.windows.net", 443, "/"),
        ("http://127.0.0.1:10002/devstoreaccount1", "127.0.0.1", 10_002, "/devstoreaccount1"),
        ("http://[::1]:10002/a", "::1", 10_002, "/a"),
        ("http://[fe80::1:2]/a", "fe80::1:2", 80, "/a"),
        ("https://[::1]", "::1", 443, "/"),
    ] {
        let host = Host::of(endpoint).unwrap();
        assert_eq!((host.name.as_str(), host.port, host.path.as_str()), (name, port, path));
    }
    assert_eq!(Host::of("http://[::1]/a").unwrap().place(), "[::1]:80");
    assert_eq!(Host::of("http://127.0.0.1:10002/a").unwrap().place(), "127.0.0.1:10002");
    for endpoint in ["contoso", "ftp://contoso", "https://", "http://a:b/"] {
        assert!(Host::of(endpoint).is_none(), "{endpoint}");
    }
}

#[tokio::test]
async fn a_response_ends_with_its_empty_line() {
    let (mut near, mut far) = tokio::io::duplex(8);
    let sent = b"HTTP/1.1 400 Bad Request\r\nDate: x\r\n\r\n";
    // `far` must stay open until the end of the test.
    let (answer, written) = tokio::join!(head(&mut near), far.write_all(sent));
    written.unwrap();
    assert_eq!(answer.unwrap(), sent);
}

#[test]
fn only_a_refusal_is_explained_by_the_permissions_of_the_credential() {
    for (code, help) in [
        (ErrorCode::ServerBusy, "throttles"),
        (ErrorCode::Corrupted, "restore"),
        (ErrorCode::OperationTimedOut, "`ErrorCode`"),
    ] {
        let error = Error::new(code, "x");
        assert!(!is_refused(&error) && help_of(&error).contains(help), "{code:?}");
    }
    assert!(is_refused(&Error::new(ErrorCode::AuthorizationFailure, "x")));
}

#[test]
fn clocks_that_differ_are_reported() {
    let answer = "HTTP/1.1 403 Forbidden\r\nDate: Wed, 25 Nov 2026 12:00:00 GMT\r\n\r\n";
    let at = |text: &str| clock(answer, text.parse().unwrap());
    assert!(at("2026-11-25T12:10:00Z").is_passed());
    assert_eq!(at("2026-11-25T13:00:00Z").fact, "the clocks are 3600 seconds apart");
    assert!(clock("HTTP/1.1 200 OK\r\n\r\n", Utc::now()).is_passed());
}

/// Tests that an address that never answers does not delay the connection to another one.
#[tokio::test]
async fn the_address_that_answers_first_is_used() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    // Packets to a network reserved for documentation are never answered.
    let silent = "192.0.2.1:9".parse().unwrap();
    let addresses = [silent, listener.local_addr().unwrap()];
    let stream = tokio::time::timeout(TIMEOUT, connect_to_any(&addresses)).await.unwrap().unwrap();
    assert_eq!(stream.peer_addr().unwrap(), listener.local_addr().unwrap());
}
