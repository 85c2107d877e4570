//! Tests the framing of HTTP requests (RFC 9112). The server and any proxy must agree on the end of each request, and on the host to which it is sent.
//!
//! In each case, a second request follows on the same connection. The server must answer it as a separate request, or not at all. It must never read it as a
//! part of the first request.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::Utc;
use http::HeaderMap;
use table_wire::auth::{AccountKey, Scheme, SignedParts, print_http_date};
use tests::ask::Ask;

use crate::SERVER;

const CLOSE: &str = "connection: close\r\n";

fn host() -> &'static str {
    SERVER.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap()
}

/// Sends bytes. Returns the statuses of all responses received before the connection closes.
fn statuses(sent: &str) -> Vec<u16> {
    let mut stream = TcpStream::connect(host()).unwrap();
    // The server may close the connection before it has read all bytes.
    let _ = stream.write_all(sent.as_bytes());
    let mut answers = Vec::new();
    let _ = stream.read_to_end(&mut answers);
    let answers = String::from_utf8_lossy(&answers).into_owned();
    let lines = answers.split("HTTP/1.1 ").skip(1).chain(answers.split("HTTP/1.0 ").skip(1));
    lines.map(|line| line.get(..3).unwrap_or_default().parse().unwrap()).collect()
}

/// Returns a request that asks the server to close the connection.
fn last() -> String {
    Ask::new("GET", "Tables").written(&SERVER)
}

/// Returns the head and the body of a request that creates a table with a unique name. `framing` contains the headers that describe the body.
fn create(framing: &str) -> (String, String) {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let body = format!("{{\"TableName\":\"Framing{:04}\"}}", NEXT.fetch_add(1, Ordering::Relaxed));
    let request = Ask::new("POST", "Tables").json(body.as_str()).written(&SERVER).replace(CLOSE, "");
    let (head, _) = request.split_once("content-length:").unwrap();
    (format!("{head}{framing}\r\n"), body)
}

fn chunked(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

/// Sends a request with the headers in `framing`, and then a second request. In `framing`, `N` is replaced with the length of the body. Returns the statuses of
/// the responses.
fn with_length(framing: &str) -> Vec<u16> {
    let (_, body) = create("");
    let (head, body) = create(&framing.replace('N', &body.len().to_string()));
    statuses(&format!("{head}{body}{}", last()))
}

#[test]
fn a_length_is_one_number() {
    for framing in
        ["content-length: N\r\n", "content-length: 0N\r\n", "content-length: N\r\ncontent-length: N\r\n"]
    {
        assert_eq!(with_length(framing), [201, 200], "{framing}");
    }
    for framing in [
        "content-length: N\r\ncontent-length: 3\r\n",
        "content-length: 3\r\ncontent-length: N\r\n",
        "content-length: N, N\r\n",
        "content-length: +N\r\n",
        "content-length: -N\r\n",
        "content-length: 0xN\r\n",
        "content-length: N.0\r\n",
        "content-length:\r\n",
        "content-length : N\r\n",
    ] {
        assert_eq!(with_length(framing), [400], "{framing}");
    }
}

/// Tests a request with both `Transfer-Encoding` and `Content-Length`. Its body must be read as chunks, and the connection must then be closed (RFC 9112,
/// section 6.1).
#[test]
fn a_body_in_chunks_with_a_length_ends_the_connection() {
    for framing in [
        "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
        "content-length: 5\r\ntransfer-encoding: chunked\r\n",
    ] {
        let (head, body) = create(framing);
        assert_eq!(statuses(&format!("{head}{}{}", chunked(&body), last())), [201], "{framing}");
        // The length and the chunks disagree about the end of the body. The remaining bytes must not be read as a request.
        let (head, _) = create(framing);
        assert_eq!(statuses(&format!("{head}0\r\n\r\n{}", last())), [400], "{framing}");
    }
}

#[test]
fn the_only_transfer_coding_is_chunked() {
    for (coding, expected) in [
        ("chunked", &[201, 200][..]),
        ("Chunked", &[201, 200]),
        ("identity, chunked", &[501]),
        ("gzip, chunked", &[501]),
        ("chunked\r\ntransfer-encoding: chunked", &[400]),
        ("chunked, chunked", &[400]),
        ("gzip\r\ntransfer-encoding: chunked", &[501]),
        ("chunked, identity", &[400]),
        ("identity", &[400]),
        ("xchunked", &[400]),
        ("\"chunked\"", &[400]),
    ] {
        let (head, body) = create(&format!("transfer-encoding: {coding}\r\n"));
        assert_eq!(statuses(&format!("{head}{}{}", chunked(&body), last())), expected, "{coding}");
    }
    // HTTP/1.0 has no transfer codings.
    let (head, body) = create("transfer-encoding: chunked\r\nconnection: keep-alive\r\n");
    let head = head.replace("HTTP/1.1", "HTTP/1.0");
    assert_eq!(statuses(&format!("{head}{}{}", chunked(&body), last())), [400]);
}

/// A function that encodes a body in chunks, in a valid or invalid way.
type Form = fn(&str) -> String;

#[test]
fn chunks_are_read_to_their_end_or_refused() {
    let send = |of: &dyn Fn(&str) -> String| {
        let (head, body) = create("transfer-encoding: chunked\r\n");
        statuses(&format!("{head}{}{}", of(&body), last()))
    };
    let accepted: [Form; 4] = [
        |body| format!("{:x};name=value\r\n{body}\r\n0\r\n\r\n", body.len()),
        |body| format!("{:x};name=\"a;b\"\r\n{body}\r\n0\r\n\r\n", body.len()),
        |body| format!("{:X}\r\n{body}\r\n0\r\nX-Sum: 1\r\n\r\n", body.len()),
        |body| format!("{:x}\r\n{body}\r\n0\r\nContent-Length: 5\r\n\r\n", body.len()),
    ];
    for (number, form) in accepted.into_iter().enumerate() {
        assert_eq!(send(&form), [201, 200], "form {number}");
    }
    let refused: [Form; 9] = [
        |body| format!("{:x};a\nb\r\n{body}\r\n0\r\n\r\n", body.len()),
        |body| format!("{:x};{}\r\n{body}\r\n0\r\n\r\n", body.len(), "x".repeat(20_000)),
        |body| format!("{:x}\n{body}\n0\n\n", body.len()),
        |body| format!("0x{:x}\r\n{body}\r\n0\r\n\r\n", body.len()),
        |body| format!("-1\r\n{body}\r\n0\r\n\r\n"),
        |body| format!("fffffffffffffffff\r\n{body}\r\n0\r\n\r\n"),
        |body| format!("{:x}\r\n{body}0\r\n\r\n", body.len()),
        |body| format!("{:x}\r\n{body}\r\n0\r\n{}\r\n", body.len(), "X-A: b\r\n".repeat(13_000)),
        |body| format!("\r\n{body}\r\n0\r\n\r\n"),
    ];
    for (number, form) in refused.into_iter().enumerate() {
        assert_eq!(send(&form), [400], "form {number}");
    }
}

#[test]
fn lines_of_a_head_are_complete_headers() {
    let with = |line: &str| statuses(&format!("{}{}", last().replacen(CLOSE, line, 1), last()));
    assert_eq!(with("x-a: b\r\n"), [200, 200]);
    for line in [
        "x-a: b\rx-c: d\r\n",
        "x-a: b\r\n c\r\n",
        "x-a: b\0c\r\n",
        "x a: b\r\n",
        ": b\r\n",
        "xa\r\n",
        "x-a : b\r\n",
    ] {
        assert_eq!(with(line), [400], "{line:?}");
    }
    for (whole, part) in [
        (" HTTP/1.1", "  HTTP/1.1"),
        (" HTTP/1.1", ""),
        (" HTTP/1.1", " HTTP/1.2"),
        (" HTTP/1.1", " http/1.1"),
    ] {
        assert_eq!(statuses(&format!("{}{}", last().replacen(whole, part, 1), last())), [400], "{part}");
    }
    // A single line feed may end a line (RFC 9112, section 2.2).
    assert_eq!(statuses(&last().replace("\r\n", "\n")), [200]);
}

#[test]
fn a_request_has_one_valid_host() {
    let line = format!("host: {}\r\n", host());
    let with = |hosts: &str| statuses(&last().replacen(&line, hosts, 1));
    for hosts in [line.as_str(), "Host: LOCALHOST:1\r\n", "host: [::1]:80\r\n", "host: example.com:\r\n"] {
        assert_eq!(with(hosts), [200], "{hosts}");
    }
    let twice = format!("{line}{line}");
    // A response can contain the host a thousand times.
    let long = format!("host: {}\r\n", "a".repeat(60_000));
    for hosts in [
        "",
        twice.as_str(),
        long.as_str(),
        "host:\r\n",
        "host: a b\r\n",
        "host: a, b\r\n",
        "host: a/b\r\n",
        "host: user@a\r\n",
        "host: a:99999\r\n",
        "host: a:b\r\n",
        "host: \u{e9}\r\n",
    ] {
        assert_eq!(with(hosts), [400], "{hosts}");
    }
    // In absolute form, the host is taken from the request line, but the header is still required.
    let absolute = last().replacen("GET /", &format!("GET http://{}/", host()), 1);
    assert_eq!(statuses(&absolute), [200]);
    assert_eq!(statuses(&absolute.replacen(&line, "host: example.com\r\n", 1)), [200]);
    assert_eq!(statuses(&absolute.replacen(&line, "", 1)), [400]);
    assert_eq!(statuses(&last().replacen("GET /", &format!("GET http://user@{}/", host()), 1)), [400]);
}

#[test]
fn err_3_a_missing_or_empty_host_has_its_own_code() {
    let line = format!("host: {}\r\n", host());
    for hosts in ["", "host:\r\n", "Host:  \t \r\n"] {
        let mut stream = TcpStream::connect(host()).unwrap();
        stream.write_all(last().replacen(&line, hosts, 1).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("HostInformationNotPresent"), "{hosts:?}: {answer}");
    }
}

/// Tests that host names are compared case-insensitively (RFC 9110, section 4.2.3).
#[test]
fn acc_1_a_host_names_its_account_in_any_case() {
    let key = AccountKey::new(crate::ACCOUNT, crate::KEY).unwrap();
    for host in ["contoso.table.localhost", "CONTOSO.Table.LocalHost:10002", "Contoso-Secondary.TABLE.a"] {
        let mut headers = HeaderMap::new();
        headers.insert("x-ms-date", print_http_date(Utc::now()).parse().unwrap());
        let parts = SignedParts { method: "GET", path: "/Tables", query: "", headers: &headers, length: 0 };
        let (signature, date) =
            (Scheme::TableLite.authorization(&key, parts), headers["x-ms-date"].to_str().unwrap());
        let request = format!(
            "GET /Tables HTTP/1.1\r\nhost: {host}\r\nx-ms-date: {date}\r\nauthorization: {signature}\r\n{CLOSE}\r\n"
        );
        assert_eq!(statuses(&request), [200], "{host}");
    }
}

/// Tests that requests with proxy methods or absolute targets are not forwarded to another host. Afterwards, the connection must be usable or closed.
#[test]
fn the_server_is_no_proxy_and_has_no_tunnel() {
    for request in [
        "CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: a\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET http://example.com/ HTTP/1.1\r\nhost: example.com\r\n\r\n",
        "GET 127.0.0.1:22 HTTP/1.1\r\nhost: a\r\n\r\n",
    ] {
        assert_eq!(statuses(&format!("{request}{}", last())), [404, 200], "{request}");
    }
    for method in ["TRACE", "CONNECT"] {
        let request = Ask::new(method, "Tables").written(&SERVER).replace(CLOSE, "");
        assert_eq!(statuses(&format!("{request}{}", last())), [405, 200], "{method}");
    }
    // A request for an upgrade to another protocol is answered in HTTP/1.1.
    for upgrade in [
        "upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\nconnection: upgrade, http2-settings\r\n",
        "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZQ==\r\n",
    ] {
        let request = last().replacen(CLOSE, upgrade, 1);
        assert_eq!(statuses(&format!("{request}{}", last())), [200, 200], "{upgrade}");
    }
}

#[test]
fn http_1_0_keeps_a_connection_only_on_request() {
    let old = |connection: &str| last().replacen("HTTP/1.1", "HTTP/1.0", 1).replacen(CLOSE, connection, 1);
    assert_eq!(statuses(&format!("{}{}", old(""), last())), [200]);
    // The first response has the HTTP version of its request. It therefore counts only once the second response has arrived.
    assert_eq!(statuses(&format!("{}{}", old("connection: keep-alive\r\n"), last())).len(), 2);
}

/// Tests that the body of a rejected request is not read as a separate request. In this test, the body looks like a request.
#[test]
fn the_body_of_a_refused_request_is_no_request() {
    let inner = last();
    let unsigned = |headers: &str| {
        format!(
            "POST /contoso/Tables HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n{headers}\r\n{inner}{}",
            inner.len(),
            last()
        )
    };
    assert_eq!(statuses(&unsigned("")), [403, 200]);
    // The client need not send the body after a rejection. The connection is therefore closed.
    assert_eq!(statuses(&unsigned("expect: 100-continue\r\n")), [403]);
    assert_eq!(statuses(&unsigned("expect: 200-ok\r\n")), [403, 200]);
    // The body of a GET must not be read as a request either.
    let get = last().replacen(CLOSE, "", 1).replacen(
        "content-length: 0",
        &format!("content-length: {}", inner.len()),
        1,
    );
    assert_eq!(statuses(&format!("{get}{inner}{}", last())), [200, 200]);
}
