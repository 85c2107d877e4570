//! Tests that commands report stored rows that they cannot read.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

/// A page of an account in which another program has stored a RowKey with an unpaired surrogate.
const PAGE: &str = r#"{"value":[{"PartitionKey":"p","RowKey":"a\ud83d","Age":1},{"PartitionKey":"p","RowKey":"b","Age":2}]}"#;
const MISSING: &str = r#"{"odata.error":{"code":"TableNotFound","message":{"lang":"en-US","value":"The table does not exist."}}}"#;

/// Answers requests for the table `Things` with the page. Other tables do not exist.
fn answer(stream: &TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut line, mut request) = (String::new(), String::new());
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        if line == "\r\n" {
            let (status, body) = if request.starts_with("GET /devstoreaccount1/Things") {
                ("200 OK", PAGE)
            } else {
                ("404 Not Found", MISSING)
            };
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nx-ms-request-id: 1\r\n");
            let mut stream = stream;
            let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
            request.clear();
        }
        request.push_str(line.trim_start_matches("\r\n"));
        line.clear();
    }
}

#[test]
fn a_row_that_cannot_be_read_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(&stream));
        }
    });
    let store = format!(
        "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=a2V5;TableEndpoint=http://{address}/devstoreaccount1"
    );
    let folder = tempfile::tempdir().unwrap();
    for words in [
        &["query", "Things", "--partition", "p", "--output", "json"][..],
        &["export", "Things", "things.jsonl"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
        for name in ["HTTP_PROXY", "http_proxy"] {
            command.env_remove(name);
        }
        let done = command.current_dir(folder.path()).args(words).args(["--store", &store]).output().unwrap();
        let error = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success(), "{words:?}: {error}");
        let lines: Vec<_> = error.lines().filter(|line| line.contains("an entity was skipped")).collect();
        assert!(
            lines.len() == 1 && lines[0].contains("WARN") && lines[0].contains("Things"),
            "{words:?}: {error}"
        );
        assert!(!String::from_utf8(done.stdout).unwrap().contains("WARN"), "{words:?}");
    }
    let exported = std::fs::read_to_string(folder.path().join("things.jsonl")).unwrap();
    assert!(exported.contains("\"b\"") && exported.lines().count() == 1, "{exported}");
}
