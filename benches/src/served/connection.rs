//! One connection of the load: signed requests out, answers in, with buffers that are used again.

use std::io::{Read, Write};
use std::net::TcpStream;

use chrono::Utc;
use http::{HeaderMap, HeaderValue};
use table_wire::auth::{AccountKey, Scheme, SignedParts, print_http_date};

use crate::Outcome;

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The method.
    pub method: &'static str,
    /// The path from the account on, as sent.
    pub path: &'a str,
    /// The query, as sent.
    pub query: &'a str,
    /// The type of the body.
    pub media_type: &'static str,
    /// The body.
    pub body: &'a str,
}

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    host: String,
    key: AccountKey,
    scheme: Scheme,
    headers: HeaderMap,
    out: Vec<u8>,
    read: Vec<u8>,
}

impl Connection {
    /// Connects; `scheme` is how the service signs.
    pub fn open(address: &str, key: &AccountKey, scheme: Scheme) -> Outcome<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-ms-version", "2019-02-02"),
            ("accept", "application/json;odata=nometadata"),
            ("dataserviceversion", "3.0;NetFx"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.insert("x-ms-date", print_http_date(Utc::now()).parse()?);
        Ok(Self {
            stream,
            host: address.to_owned(),
            key: key.clone(),
            scheme,
            headers,
            out: Vec::new(),
            read: Vec::new(),
        })
    }

    /// Sends a request, reads the answer, and gives its status and its body.
    pub fn exchange(&mut self, sent: &Sent<'_>) -> Outcome<(u16, &[u8])> {
        let headers = &mut self.headers;
        for name in ["content-type", "if-match", "prefer"] {
            headers.remove(name);
        }
        if !sent.body.is_empty() {
            headers.insert("content-type", HeaderValue::from_static(sent.media_type));
        }
        match sent.method {
            "MERGE" | "DELETE" => headers.insert("if-match", HeaderValue::from_static("*")),
            _ => headers.insert("prefer", HeaderValue::from_static("return-no-content")),
        };
        let parts = SignedParts {
            method: sent.method,
            path: sent.path,
            query: sent.query,
            headers,
            length: sent.body.len(),
        };
        let authorization = self.scheme.authorization(&self.key, parts);
        let mark = if sent.query.is_empty() { "" } else { "?" };
        self.out.clear();
        write!(self.out, "{} {}{mark}{} HTTP/1.1\r\n", sent.method, sent.path, sent.query)?;
        write!(self.out, "host: {}\r\nauthorization: {authorization}\r\n", self.host)?;
        for (name, value) in &self.headers {
            write!(self.out, "{name}: {}\r\n", value.to_str()?)?;
        }
        if !sent.body.is_empty() || sent.method == "POST" {
            write!(self.out, "content-length: {}\r\n", sent.body.len())?;
        }
        write!(self.out, "\r\n{}", sent.body)?;
        self.stream.write_all(&self.out)?;
        self.answer()
    }

    fn answer(&mut self) -> Outcome<(u16, &[u8])> {
        self.read.clear();
        let end = loop {
            self.more()?;
            if let Some(at) = find(&self.read, b"\r\n\r\n") {
                break at + 4;
            }
        };
        let head = std::str::from_utf8(self.read.get(..end).unwrap_or_default())?.to_ascii_lowercase();
        let status: u16 = head.get(9..12).unwrap_or_default().parse()?;
        if head.contains("transfer-encoding: chunked") {
            let body = self.chunks(end)?;
            return Ok((status, self.read.get(end..body).unwrap_or_default()));
        }
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let length: usize = length.map_or(Ok(0), str::parse)?;
        while self.read.len() < end + length {
            self.more()?;
        }
        Ok((status, self.read.get(end..end + length).unwrap_or_default()))
    }

    /// Reads chunks to the last one, moves them together from `start` on, and gives their end.
    fn chunks(&mut self, start: usize) -> Outcome<usize> {
        let (mut at, mut end) = (start, start);
        loop {
            let line = loop {
                if let Some(line) = find(self.read.get(at..).unwrap_or_default(), b"\r\n") {
                    break line;
                }
                self.more()?;
            };
            let digits = std::str::from_utf8(self.read.get(at..at + line).unwrap_or_default())?;
            let size = usize::from_str_radix(digits.trim(), 16)?;
            let from = at + line + 2;
            while self.read.len() < from + size + 2 {
                self.more()?;
            }
            if size == 0 {
                return Ok(end);
            }
            self.read.copy_within(from..from + size, end);
            (at, end) = (from + size + 2, end + size);
        }
    }

    fn more(&mut self) -> Outcome<()> {
        let filled = self.read.len();
        self.read.resize(filled + (64 << 10), 0);
        let read = self.stream.read(self.read.get_mut(filled..).unwrap_or_default())?;
        self.read.truncate(filled + read);
        if read == 0 { Err("the server closed the connection".into()) } else { Ok(()) }
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
