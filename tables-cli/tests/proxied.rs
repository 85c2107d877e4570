//! Tests that `doctor` accepts an account reachable only through a proxy.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

/// Answers requests sent through a proxy, without forwarding them. The account has no tables.
fn answer(stream: &TcpStream, status: &str, body: &str) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut line, mut request) = (String::new(), String::new());
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        if line == "\r\n" {
            assert!(
                request.starts_with("GET http://contoso.invalid:10002/devstoreaccount1/Tables"),
                "{request}"
            );
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nx-ms-request-id: 1\r\n");
            let mut stream = stream;
            let _ = write!(stream, "{head}Content-Length: {length}\r\n\r\n{body}");
            request.clear();
        } else {
            request.push_str(&line);
        }
        line.clear();
    }
}

/// Runs `doctor` on an account whose name cannot be resolved, with a proxy in its environment. Returns `true` if the command succeeded, and its output.
fn examined(status: &'static str, body: &'static str) -> (bool, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(&stream, status, body));
        }
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
    // Requests to an account other than the emulator are encrypted, so the proxy could not answer them.
    command.args([
        "doctor",
        "--store",
        "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://contoso.invalid",
    ]);
    for name in ["HTTP_PROXY", "http_proxy"] {
        command.env(name, &proxy);
    }
    for name in ["NO_PROXY", "no_proxy", "TABLES_STORE"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn an_account_behind_a_proxy_is_examined_through_the_proxy() {
    let (is_usable, text) = examined("200 OK", "{\"value\":[]}");
    assert!(is_usable && !text.contains("FAIL"), "{text}");
    assert!(text.contains("ok    DNS        not reachable directly; requests go through a proxy"), "{text}");
    assert!(text.contains("ok    account    the credential is accepted"), "{text}");
}

#[test]
fn a_wrong_key_is_reported_behind_a_proxy() {
    let body =
        r#"{"odata.error":{"code":"AuthenticationFailed","message":{"lang":"en-US","value":"wrong"}}}"#;
    let (is_usable, text) = examined("403 Forbidden", body);
    assert!(!is_usable && text.contains("ok    DNS  ") && text.contains("FAIL  account"), "{text}");
}
