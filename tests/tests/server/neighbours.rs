//! Tests that hostile clients do not affect a well-behaved client. They open many connections and never send a request with a valid signature.
//!
//! Each kind of hostile client opens more connections than the server allows to clients that have not yet sent an authenticated request.
//! `HOSTILE_CONNECTIONS=5000` opens more, under the default limits of the server. Among such connections, the benchmarks measure the latency of a client
//! (`ratios -- --server --only hostile`).

use std::env;
use std::io::Write;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use table_server::{Config, Server};
use tests::ask::Ask;
use tests::served::{account, with_server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::http2::request;

/// The server's limit on guests, which are connections that are not authenticated yet. Each kind of hostile client opens more connections.
const GUESTS: usize = 64;
/// The number of connections that are opened at once, which the kernel must queue. Before version 5.4, Linux queues only 128 by default.
const BURST: usize = 1_000;
/// The number of unsigned requests sent on one connection.
const UNSIGNED: usize = 2_000;
/// The minimum time for the unsigned requests: 200 µs for each request after the first ten.
const UNSIGNED_TIME: Duration = Duration::from_millis(398);
/// The number of connections opened by each kind of hostile client, unless `HOSTILE_CONNECTIONS` is set.
const CONNECTIONS: usize = 160;

/// The kinds of unfinished requests. Each consists of a name and the bytes that a connection sends before it stalls.
const KINDS: [(&str, &str); 6] = [
    ("silent", ""),
    ("half a head", "GET /contoso/Tables HTTP/1.1\r\nHost: a\r\nX-A"),
    ("half a method", "PR"),
    (
        "an unfinished unsigned body",
        "POST /contoso/Employee HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{",
    ),
    (
        "an unfinished unsigned chunked body",
        "POST /contoso/Employee HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nFFFF\r\n{",
    ),
    ("HTTP/2 without a request", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0"),
];

/// A well-behaved client. It keeps one connection open, and opens another one for each read.
struct Client {
    host: String,
    kept: http1::SendRequest<Full<Bytes>>,
}

/// Opens a connection.
pub(crate) async fn connect(host: &str) -> http1::SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(host).await.unwrap();
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    // The connection ends when the sender is dropped.
    tokio::spawn(async move { drop(connection.await) });
    sender
}

/// Returns a request whose target is a path instead of a URL, as HTTP/1.1 requires.
pub(crate) fn relative(host: &str, method: &'static str, path: &str, body: &str) -> Request<Full<Bytes>> {
    let mut request = request("", method, path, body);
    request.headers_mut().insert("host", host.parse().unwrap());
    request
}

/// Returns the status and the body of a response.
pub(crate) async fn text(answer: Response<Incoming>) -> (u16, String) {
    let status = answer.status().as_u16();
    (status, String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap())
}

impl Client {
    async fn new(host: &str) -> Self {
        let mut client = Self { host: host.to_owned(), kept: connect(host).await };
        let table = "{\"TableName\":\"Employee\"}";
        assert_eq!(client.ask("POST", "Tables", table).await.0, 201);
        client
    }

    async fn ask(&mut self, method: &'static str, path: &str, body: &str) -> (u16, String) {
        self.kept.ready().await.unwrap();
        text(self.kept.send_request(relative(&self.host, method, path, body)).await.unwrap()).await
    }

    /// Inserts an entity over the open connection, and reads it over a new one.
    async fn work(&mut self, row: usize) {
        let entity = format!("{{\"PartitionKey\":\"Sales\",\"RowKey\":\"{row}\"}}");
        let (status, body) = self.ask("POST", "Employee", &entity).await;
        assert_eq!(status, 201, "{body}");
        let path = format!("Employee(PartitionKey='Sales',RowKey='{row}')");
        let answer = connect(&self.host).await.send_request(relative(&self.host, "GET", &path, "")).await;
        let (status, body) = text(answer.unwrap()).await;
        assert!(status == 200 && body.contains(&format!("\"RowKey\":\"{row}\"")), "{status} {body}");
    }
}

/// Starts a server. Runs `program` with the host of its table service and the number of hostile connections.
fn run(program: impl AsyncFnOnce(String, usize)) {
    let chosen = env::var("HOSTILE_CONNECTIONS").ok().and_then(|text| text.parse().ok());
    let mut config = Config::on_loopback(account());
    if chosen.is_none() {
        config.limits.unauthenticated_connections = GUESTS;
    }
    with_server(config, async |connection, _| {
        let host = connection.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap();
        program(host.to_owned(), chosen.unwrap_or(CONNECTIONS)).await;
    });
}

#[test]
fn a_client_does_not_notice_unfinished_requests() {
    for (kind, sent) in KINDS {
        run(async |host, connections| {
            let mut client = Client::new(&host).await;
            let mut open = Vec::new();
            for number in 0..connections {
                let mut stream = TcpStream::connect(&host).await.expect(kind);
                // The server may have closed the connection already.
                let _ = stream.write_all(sent.as_bytes()).await;
                open.push(stream);
                if number % (connections / 16).max(1) == 0 {
                    client.work(number).await;
                }
            }
            client.work(connections).await;
        });
    }
}

/// Tests hostile HTTP/2 connections. Each of them opens as many streams as the server allows, and sends an unsigned request
/// with an unfinished body on each stream.
#[test]
fn a_client_does_not_notice_unfinished_streams_of_http_2() {
    run(async |host, connections| {
        let mut client = Client::new(&host).await;
        let mut open = Vec::new();
        for number in 0..connections.div_ceil(16) {
            let mut stream = TcpStream::connect(&host).await.unwrap();
            let _ = stream.write_all(&streams(256)).await;
            open.push(stream);
            client.work(number).await;
        }
        client.work(connections).await;
    });
}

/// Returns the bytes of an HTTP/2 connection. They are the preface, an empty `SETTINGS` frame, and `number` streams with headers but no body.
fn streams(number: u32) -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    // The fields are `:method: POST`, `:scheme: http` and, as literals, `:path: /contoso/Employee` and `:authority: a` (RFC 7541).
    let mut head = vec![0x83, 0x86, 0x04, 17];
    head.extend_from_slice(b"/contoso/Employee");
    head.extend_from_slice(&[0x01, 1, b'a']);
    for stream in (0..number).map(|index| 2 * index + 1) {
        let length = u8::try_from(head.len()).unwrap();
        // This is a HEADERS frame with END_HEADERS but without END_STREAM.
        bytes.extend_from_slice(&[0, 0, length, 0x01, 0x04]);
        bytes.extend_from_slice(&stream.to_be_bytes());
        bytes.extend_from_slice(&head);
    }
    bytes
}

/// Tests that a burst of connections waits in the kernel's queue until the server accepts them.
///
/// If the queue were too short, clients would wait for a second or more.
#[tokio::test]
async fn a_burst_of_connections_waits_in_the_queue() {
    // The server does not accept connections in this test.
    let server = Server::bind(Config::on_loopback(account()).ephemeral()).await.unwrap();
    let connect = |number| {
        let connected = std::net::TcpStream::connect_timeout(&server.tables(), Duration::from_millis(900));
        connected.unwrap_or_else(|error| panic!("connection {number}: {error}"))
    };
    let open: Vec<_> = (0..BURST).map(connect).collect();
    drop(open);
}

/// Tests that the server reads the first request of a new connection before it closes the connection to make room for others.
#[test]
fn a_burst_of_signed_connections_is_answered() {
    let mut config = Config::on_loopback(account());
    config.limits.unauthenticated_connections = 2;
    with_server(config, async |connection, _| {
        let host = connection.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap();
        let request = Ask::new("GET", "Tables").written(&connection);
        // This blocks the server's thread. The server then finds all connections at the same time.
        let connect = |_| {
            let mut stream = std::net::TcpStream::connect(host).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream.set_nonblocking(true).unwrap();
            TcpStream::from_std(stream).unwrap()
        };
        for (number, mut stream) in (0..100).map(connect).collect::<Vec<_>>().into_iter().enumerate() {
            let mut answer = [0; 12];
            let read = stream.read_exact(&mut answer).await;
            assert!(read.is_ok() && &answer == b"HTTP/1.1 200", "connection {number}: {read:?}");
        }
    });
}

/// Tests that each unsigned request on a connection delays the next one, and that signed requests are not delayed.
#[test]
fn unsigned_requests_have_a_rate() {
    with_server(Config::on_loopback(account()), async |connection, _| {
        let host = connection.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap();
        let begun = Instant::now();
        let mut stream = TcpStream::connect(host).await.unwrap();
        let (mut reader, mut writer) = stream.split();
        let request = "GET /contoso/Tables HTTP/1.1\r\nHost: a\r\n";
        let requests = format!("{request}\r\n").repeat(UNSIGNED - 1) + request + "Connection: close\r\n\r\n";
        let mut answers = Vec::new();
        let write = async { writer.write_all(requests.as_bytes()).await.unwrap() };
        let (read, ()) = tokio::join!(reader.read_to_end(&mut answers), write);
        assert!(read.is_ok(), "{read:?}");
        assert_eq!(answers.windows(12).filter(|text| text == b"HTTP/1.1 403").count(), UNSIGNED);
        assert!(begun.elapsed() >= UNSIGNED_TIME, "{:?}", begun.elapsed());
        let mut client = Client::new(host).await;
        client.work(1).await;
    });
}

/// Tests that unsigned requests do not count towards the limit on concurrent requests. They are rejected earlier. The limit is 1 in this test.
#[test]
fn unsigned_requests_take_no_capacity() {
    let mut config = Config::on_loopback(account());
    (config.limits.requests, config.limits.unauthenticated_connections) = (1, GUESTS);
    with_server(config, async |connection, _| {
        let host = connection.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap();
        let mut client = Client::new(host).await;
        let mut open = Vec::new();
        for (row, (_, sent)) in KINDS.iter().cycle().take(48).enumerate() {
            let mut stream = TcpStream::connect(host).await.unwrap();
            stream.write_all(sent.as_bytes()).await.unwrap();
            if sent.contains("Content-Length") {
                // The response arrives even though the body is never sent.
                let mut answer = [0; 12];
                stream.read_exact(&mut answer).await.unwrap();
                assert_eq!(&answer, b"HTTP/1.1 403");
            }
            open.push(stream);
            client.work(row).await;
        }
    });
}
