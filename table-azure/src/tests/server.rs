//! A scripted server that sends one reply for each request, in order. It records requests and verifies their signatures.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use table_core::row::RowWriter;
use table_core::{
    Clock, Operation, OperationKind, PartitionKey, Result, Row, RowKey, TableName, TableStore, Transaction,
    ValueRef,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use super::time;
use crate::auth::AccountKey;
use crate::auth::{EMULATOR_ACCOUNT, EMULATOR_KEY};
use crate::{AzureTables, Credential, Options, Target};

/// The server's reaction to one request.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    /// A response with a head and a body. `Content-Length` is added to the head unless the status is 204.
    Answer { head: String, body: String },
    /// A complete response, as bytes.
    Bytes(Vec<u8>),
    /// The server reads the request, then closes the connection.
    Cut,
    /// The server sends the head and part of the body, then closes the connection.
    CutBody,
    /// The server reads the request and never responds.
    Silence,
    /// The server sends the head and part of the body, then stops sending without closing the connection.
    SlowBody,
    /// The server sends an endless body.
    Endless,
    /// The server returns the requested entity with one `Int32` and the identifier of the last write it received.
    EntityAsSent,
}

/// Returns a response with the given status, header lines and body.
pub(super) fn answer(status: u16, headers: &[&str], body: &str) -> Reply {
    let mut head =
        format!("HTTP/1.1 {status} X\r\nDate: Fri, 20 Nov 2026 08:00:00 GMT\r\nx-ms-request-id: c0ffee\r\n");
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    Reply::Answer { head, body: body.to_owned() }
}

pub(super) const JSON: &str =
    "Content-Type: application/json;odata=minimalmetadata;streaming=true;charset=utf-8";

pub(super) fn json(status: u16, body: &str) -> Reply {
    answer(status, &[JSON], body)
}

/// Returns an error response in the service's format (ERR-1).
pub(super) fn refusal(status: u16, code: &str) -> Reply {
    json(status, &refusal_body(code, "no"))
}

pub(super) fn refusal_body(code: &str, message: &str) -> String {
    format!(
        r#"{{"odata.error":{{"code":"{code}","message":{{"lang":"en-US","value":"{message}\nRequestId:r\nTime:t"}}}}}}"#
    )
}

/// Returns a success response without content.
pub(super) fn done() -> Reply {
    answer(204, &["ETag: W/\"datetime'2026-11-20T07%3A59%3A59.5Z'\""], "")
}

/// Returns the entity `(p, r)` with one `Int32` and a timestamp.
pub(super) fn entity(timestamp: &str, a: i32) -> Reply {
    let etag = format!("W/\\\"datetime'{}'\\\"", timestamp.replace(':', "%3A"));
    json(
        200,
        &format!(
            r#"{{"odata.metadata":"x","odata.etag":"{etag}","PartitionKey":"p","RowKey":"r","Timestamp":"{timestamp}","A":{a}}}"#
        ),
    )
}

/// Returns an entity with the given key.
pub(super) fn entity_at(partition_key: &str, row_key: &str) -> Reply {
    let Reply::Answer { head, body } = entity("2026-11-20T07:00:00Z", 1) else { unreachable!() };
    Reply::Answer { head, body: with_key(&body, partition_key, row_key) }
}

fn with_key(body: &str, partition_key: &str, row_key: &str) -> String {
    let key = format!(r#""PartitionKey":"{partition_key}","RowKey":"{row_key}""#);
    body.replace(r#""PartitionKey":"p","RowKey":"r""#, &key)
}

/// Returns the entity `(p, r)` with one `Int32` and the given write identifier.
pub(super) fn entity_of(id: &str, a: i32) -> Reply {
    json(
        200,
        &format!(
            r#"{{"odata.etag":"W/\"datetime'2026-11-20T07%3A59%3A59.5Z'\"","PartitionKey":"p","RowKey":"r","Timestamp":"2026-11-20T07:59:59.5Z","A":{a},"OperationId@odata.type":"Edm.Guid","OperationId":"{id}"}}"#
        ),
    )
}

fn sent_id(received: &[Received]) -> String {
    const NAME: &str = "\"OperationId\":\"";
    let body = received.iter().rev().find_map(|request| request.body.split_once(NAME)).unwrap().1;
    body[..36].to_owned()
}

fn entity_as_sent(received: &[Received]) -> Reply {
    let target = &received.last().unwrap().target;
    let row_key = target.split_once("RowKey='").unwrap().1.split('\'').next().unwrap();
    let Reply::Answer { head, body } = entity_of(&sent_id(received), 1) else { unreachable!() };
    Reply::Answer { head, body: with_key(&body, "p", row_key) }
}

/// A received request.
#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
    /// The time at which the server finished reading the request.
    pub(super) at: Option<Instant>,
}

impl Received {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    /// Returns the method and the path, such as `GET /path`, without the account name and the query.
    pub(super) fn line(&self) -> String {
        let path = self.target.split('?').next().unwrap();
        format!("{} {}", self.method, path.strip_prefix("/devstoreaccount1").unwrap_or(path))
    }

    /// Returns the query parameters with decoded names and values.
    pub(super) fn query(&self) -> Vec<(String, String)> {
        let url = reqwest::Url::parse(&format!("http://x{}", self.target)).unwrap();
        url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
    }

    /// Returns `true` if the request's signature is valid (AUTH-2, AUTH-3, AUTH-6).
    fn is_signed(&self) -> bool {
        let mut path = self.target.split('?').next().unwrap().to_owned();
        if let Some((_, comp)) = self.query().into_iter().find(|(name, _)| name == "comp") {
            path = format!("{path}?comp={comp}");
        }
        let key = AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap();
        let lite = key.sign(&format!("{}\n/{EMULATOR_ACCOUNT}{path}", self.header("x-ms-date")));
        if self.header("authorization") == format!("SharedKeyLite {EMULATOR_ACCOUNT}:{lite}") {
            return true;
        }
        let text = format!(
            "{}\n\n{}\n{}\n/{EMULATOR_ACCOUNT}{path}",
            self.method,
            self.header("content-type"),
            self.header("x-ms-date"),
        );
        let signature = key.sign(&text);
        self.header("authorization") == format!("SharedKey {EMULATOR_ACCOUNT}:{signature}")
    }
}

#[derive(Debug, Default)]
struct Script {
    replies: VecDeque<Reply>,
    received: Vec<Received>,
    connections: usize,
}

/// A scripted server, which runs until the runtime of its test ends.
#[derive(Clone, Debug)]
pub(super) struct Server {
    script: Arc<Mutex<Script>>,
    pub(super) endpoint: String,
}

impl Server {
    pub(super) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/devstoreaccount1", listener.local_addr().unwrap());
        let script = Script { replies: replies.into_iter().collect(), received: Vec::new(), connections: 0 };
        let script = Arc::new(Mutex::new(script));
        let own = Arc::clone(&script);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                own.lock().unwrap().connections += 1;
                tokio::spawn(serve(stream, Arc::clone(&own)));
            }
        });
        Self { script, endpoint }
    }

    /// Appends replies to the script.
    pub(super) fn then(&self, replies: impl IntoIterator<Item = Reply>) {
        self.script.lock().unwrap().replies.extend(replies);
    }

    /// Returns the identifier of the last write that the server received.
    pub(super) fn sent_id(&self) -> String {
        sent_id(&self.received())
    }

    /// Returns the received requests.
    pub(super) fn received(&self) -> Vec<Received> {
        self.script.lock().unwrap().received.clone()
    }

    /// Returns the number of accepted connections.
    pub(super) fn connections(&self) -> usize {
        self.script.lock().unwrap().connections
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.received().iter().map(Received::line).collect()
    }

    /// Creates a client with the emulator's key and a clock that advances by a second each time it is read.
    pub(super) fn client(&self, options: Options) -> AzureTables {
        self.client_of(options.target(Target::Service))
    }

    /// Creates a client like [`client`](Self::client), but with the target in the options.
    pub(super) fn client_of(&self, options: Options) -> AzureTables {
        let credential = Credential::shared_key(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap();
        AzureTables::with_options(&self.endpoint, credential, options.clock(clock())).unwrap()
    }
}

pub(super) fn clock() -> Clock {
    let start: DateTime<Utc> = "2026-11-20T08:00:00Z".parse().unwrap();
    let count = std::sync::atomic::AtomicI64::new(0);
    Clock::of_instants(move || {
        let seconds = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        start + chrono::TimeDelta::seconds(seconds)
    })
}

async fn serve(mut stream: TcpStream, script: Arc<Mutex<Script>>) {
    while let Some(request) = read(&mut stream).await {
        let by_key = request.header("authorization").starts_with("SharedKey");
        let signed = !by_key || request.is_signed();
        let reply = {
            let mut script = script.lock().unwrap();
            script.received.push(Received { at: Some(Instant::now()), ..request });
            match script.replies.pop_front() {
                Some(Reply::EntityAsSent) => Some(entity_as_sent(&script.received)),
                reply => reply,
            }
        };
        let reply = match reply {
            _ if !signed => refusal(403, "AuthenticationFailed"),
            Some(reply) => reply,
            None => refusal(400, "NothingMoreWasExpected"),
        };
        let part =
            || (format!("HTTP/1.1 200 OK\r\n{JSON}\r\nContent-Length: 100\r\n"), r#"{"value":["#.to_owned());
        let ((head, body), then) = match reply {
            Reply::Answer { head, body } if head.starts_with("HTTP/1.1 204") => ((head, body), Then::GoOn),
            Reply::Answer { head, body } => {
                ((format!("{head}Content-Length: {}\r\n", body.len()), body), Then::GoOn)
            }
            Reply::Bytes(bytes) => {
                stream.write_all(&bytes).await.unwrap();
                continue;
            }
            Reply::Cut => return,
            Reply::Silence => silence().await,
            Reply::CutBody => (part(), Then::Close),
            Reply::SlowBody => (part(), Then::Wait),
            Reply::EntityAsSent => unreachable!("it became an answer above"),
            Reply::Endless => return endless(&mut stream).await,
        };
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        match then {
            Then::GoOn => {}
            Then::Close => return,
            Then::Wait => silence().await,
        }
    }
}

/// Sends chunks until the client closes the connection.
async fn endless(stream: &mut TcpStream) {
    let chunk = format!("100000\r\n{}\r\n", " ".repeat(0x10_0000));
    let head = format!("HTTP/1.1 200 OK\r\n{JSON}\r\nTransfer-Encoding: chunked\r\n\r\n");
    let mut sent = stream.write_all(head.as_bytes()).await;
    while sent.is_ok() {
        sent = stream.write_all(chunk.as_bytes()).await;
    }
}

/// Releases the paused clock of the test, so the attempt reaches its time limit. Then waits forever.
async fn silence() -> ! {
    time::pass();
    std::future::pending().await
}

enum Then {
    GoOn,
    Close,
    Wait,
}

/// Reads one request. Returns `None` if the client closes the connection or attempts a TLS handshake.
async fn read(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 || !bytes.first()?.is_ascii_uppercase() {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ').map(str::to_owned);
    let (method, target) = (first.next()?, first.next()?);
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut request = Received { method, target, headers, ..Received::default() };
    let length: usize = request.header("content-length").parse().unwrap_or(0);
    while bytes.len() < end + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    request.body = String::from_utf8(bytes[end + 4..].to_vec()).unwrap();
    Some(request)
}

pub(super) fn table() -> TableName {
    TableName::new("Employee").unwrap()
}

/// Returns a row with one `Int32`.
pub(super) fn row(a: i32) -> Row {
    let mut row = RowWriter::new();
    row.property("A", ValueRef::Int32(a));
    row.finish()
}

/// Submits operations on rows in the partition `p`.
pub(super) async fn submit(
    client: &AzureTables,
    operations: impl IntoIterator<Item = (&str, OperationKind)>,
) -> Result<Vec<Option<String>>> {
    let limits = client.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
    for (row_key, kind) in operations {
        transaction.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
    }
    let etags = client.submit(&table(), transaction).await?;
    Ok(etags.into_iter().map(|etag| etag.map(|etag| etag.to_string())).collect())
}
