//! Sends signed HTTP requests without a client library.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use chrono::Utc;
use http::HeaderMap;
use table_wire::auth::{AccountKey, Scheme, SignedParts, print_http_date};

/// A request signed with an account key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) scheme: Scheme,
    pub(crate) method: &'a str,
    /// The path and query, as on the request line.
    pub(crate) target: &'a str,
    pub(crate) host: &'a str,
    /// The additional headers, with names in lower case.
    pub(crate) more: &'a [(&'static str, &'a str)],
    pub(crate) body: &'a str,
}

impl<'a> Asked<'a> {
    /// Creates a request to the table service.
    pub(crate) fn tables(method: &'a str, target: &'a str) -> Self {
        Self { scheme: Scheme::TableLite, method, target, host: "127.0.0.1", more: &[], body: "" }
    }

    /// Creates a request to the queue service.
    pub(crate) fn queues(method: &'a str, target: &'a str) -> Self {
        Self { scheme: Scheme::Storage, ..Self::tables(method, target) }
    }

    /// Signs the request, sends it, and returns the head and body of the response.
    pub(crate) fn of(self, address: SocketAddr, key: &AccountKey) -> String {
        let Self { scheme, method, target, host, more, body } = self;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let date = print_http_date(Utc::now());
        let mut headers = HeaderMap::new();
        headers.insert("x-ms-date", date.parse().unwrap());
        let mut lines = String::new();
        for (name, value) in more {
            headers.insert(*name, value.parse().unwrap());
            write!(lines, "{name}: {value}\r\n").unwrap();
        }
        let parts = SignedParts { method, path, query, headers: &headers, length: body.len() };
        let authorization = scheme.authorization(key, parts);
        let text = format!(
            "{method} {target} HTTP/1.1\r\nhost: {host}\r\nx-ms-date: {date}\r\nauthorization: {authorization}\r\n\
             accept: application/json\r\nconnection: close\r\ncontent-length: {}\r\n{lines}\r\n{body}",
            body.len()
        );
        plain(address, &text)
    }
}

/// Sends text over a new connection, and returns everything received until the connection closes.
pub(crate) fn plain(address: SocketAddr, text: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Returns the status of a response.
pub(crate) fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}
