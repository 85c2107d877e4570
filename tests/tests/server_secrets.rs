//! Tests that secrets sent to a server do not appear in its output. The output consists of the log at its most detailed level, the responses and the metrics.
//! The tests are in a separate binary, because the log is global to the process.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use chrono::{TimeDelta, Utc};
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use table_core::{Engine, QueueName, TableName};
use table_server::{Account, Config};
use table_wire::auth::{AccountKey, Scheme, SignedParts, print_http_date};
use table_wire::sas::{AccessPolicy, QueuePermissions, QueueToken, TablePermissions, TableSas};
use tests::served::{ACCOUNT, asked, with_server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An account key, in Base64 and in decoded form.
const KEY: &str = "dW5zcGVha2FibGUtYWNjb3VudC1rZXk=";
const MEANING: &str = "unspeakable-account-key";

/// An in-memory log.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The secrets that must not appear in the output of the server. Also the responses that were received.
struct Seen {
    secrets: Vec<String>,
    answers: Vec<String>,
}

/// Returns the longest part of a Base64 signature that URL encoding leaves unchanged.
fn part(signature: &str) -> String {
    signature.split(['+', '/', '=']).max_by_key(|part| part.len()).unwrap_or_default().to_owned()
}

fn key() -> AccountKey {
    AccountKey::new(ACCOUNT, KEY).unwrap()
}

/// Returns the URL-encoded signature of a token.
fn signature_of(token: &str) -> &str {
    token.split('&').find_map(|pair| pair.strip_prefix("sig=")).unwrap()
}

impl Seen {
    /// Adds the signature of a token to the secrets. Returns the token.
    fn token(&mut self, token: String) -> String {
        let plain = signature_of(&token).replace("%2B", "+").replace("%2F", "/").replace("%3D", "=");
        self.secrets.push(part(&plain));
        token
    }

    /// Returns the headers of a request signed with the key, and adds the signature to the secrets.
    fn signed(&mut self, scheme: Scheme, method: &str, target: &str, length: usize) -> HeaderMap {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut headers = HeaderMap::new();
        headers.insert("x-ms-date", print_http_date(Utc::now()).parse().unwrap());
        let parts = SignedParts { method, path, query, headers: &headers, length };
        let authorization = scheme.authorization(&key(), parts);
        self.secrets.push(part(authorization.split_once(':').unwrap().1));
        headers.insert("authorization", authorization.parse().unwrap());
        headers
    }

    /// Sends bytes, closes the sending side of the connection, and reads until the server closes the connection.
    async fn cut(&mut self, address: SocketAddr, text: &str) {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // The server may reject the request before it has been sent completely.
        let _ = stream.write_all(text.as_bytes()).await;
        drop(stream.shutdown().await);
        self.read(stream).await;
    }

    /// Sends a request that asks the server to close the connection. Returns the status of the response.
    async fn send(&mut self, address: SocketAddr, text: &str) -> u16 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let _ = stream.write_all(text.as_bytes()).await;
        self.read(stream).await
    }

    async fn read(&mut self, mut stream: TcpStream) -> u16 {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        self.answers.push(answer);
        status
    }

    async fn ask(&mut self, to: SocketAddr, line: &str, headers: &str, body: &str) -> u16 {
        let length = body.len();
        let text = format!(
            "{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
        );
        self.send(to, &text).await
    }

    async fn owner(&mut self, to: SocketAddr, scheme: Scheme, line: &str, body: &str) -> u16 {
        let (method, target) = line.split_once(' ').unwrap();
        let headers = self.signed(scheme, method, target, body.len());
        self.ask(to, line, &lines(&headers), body).await
    }
}

fn lines(headers: &HeaderMap) -> String {
    headers.iter().fold(String::new(), |mut lines, (name, value)| {
        write!(lines, "{name}: {}\r\n", value.to_str().unwrap()).unwrap();
        lines
    })
}

/// Sends requests signed with the account key, some of which have an invalid `Authorization` header.
async fn keys(seen: &mut Seen, tables: SocketAddr, queues: SocketAddr) {
    let line = "POST /contoso/Tables";
    assert_eq!(seen.owner(tables, Scheme::Table, line, "{\"TableName\":\"Employee\"}").await, 201);
    assert_eq!(seen.owner(tables, Scheme::TableLite, "GET /contoso/Employee()", "").await, 200);
    assert_eq!(seen.owner(tables, Scheme::TableLite, "GET /contoso/Employee()?$top=x", "").await, 400);
    assert_eq!(seen.owner(tables, Scheme::TableLite, "GET /contoso/Missing()", "").await, 404);
    assert_eq!(seen.owner(queues, Scheme::Storage, "PUT /contoso/work", "").await, 201);
    // This request has the signature of another request.
    let headers = seen.signed(Scheme::Table, "GET", "/contoso/Orders()", 0);
    assert_eq!(seen.ask(tables, "GET /contoso/Tables", &lines(&headers), "").await, 403);
    let signature = headers["authorization"].to_str().unwrap().split_once(':').unwrap().1;
    for authorization in [
        format!("SharedKey contoso {signature}"),
        format!("SharedKey {signature}"),
        format!("SharedKey fabrikam:{signature}"),
        format!("SharedKey contoso:{signature}:{signature}"),
        format!("Bearer {signature}"),
        signature.to_owned(),
        format!("SharedKey contoso:{KEY}"),
        format!("SharedKey contoso:{signature}\r\nauthorization: SharedKey contoso:{signature}"),
        format!("SharedKey contoso:{signature}\u{1}"),
    ] {
        for address in [tables, queues] {
            let headers = format!("x-ms-date: x\r\nauthorization: {authorization}\r\n");
            let status = seen.ask(address, "GET /contoso/Tables", &headers, "").await;
            assert!((400..500).contains(&status), "{authorization}: {status}");
        }
    }
}

/// Sends requests with shared access signatures, some of which are invalid.
async fn tokens(seen: &mut Seen, tables: SocketAddr, queues: SocketAddr, blobs: SocketAddr) {
    let sas = TableSas::table(TableName::new("Employee").unwrap()).allow(TablePermissions::READ);
    let sas = sas.valid_for(Utc::now(), Duration::from_secs(60 * 60)).sign(&key()).unwrap();
    let sas = seen.token(sas.query_string());
    let expiry = Some(Utc::now() + TimeDelta::hours(1));
    let policy = AccessPolicy { expiry, permissions: Some(QueuePermissions::PROCESS), start: None };
    let work = QueueName::new("work").unwrap();
    let queue = seen.token(QueueToken::sign(&key(), &work, policy, None).unwrap().query_string());

    assert_eq!(seen.ask(tables, &format!("GET /contoso/Employee()?{sas}"), "", "").await, 200);
    assert_eq!(seen.ask(queues, &format!("GET /contoso/work/messages?{queue}"), "", "").await, 200);
    let signature = signature_of(&sas).to_owned();
    for target in [
        format!("/contoso/Employee()?{sas}&sig={signature}"),
        format!("/contoso/Employee()?{sas}%zz"),
        format!("/contoso/Employee()?{}", sas.replace("se=", "se=x")),
        format!("/contoso/Employee()?sig={signature}"),
        format!("/contoso/Employee()?$filter=Age%20gt%2030&{}", sas.replace("sp=r", "sp=rw")),
        format!("/contoso/Employee()?$filter=Age%20gt&{sas}"),
        format!("/contoso/Orders()?{sas}"),
        format!("/fabrikam/Employee()?{sas}"),
        format!("/contoso/work/messages?{}", queue.replace("se=", "se=x")),
        // These requests have signatures in their paths.
        format!("/contoso/Employee()%3F{sas}"),
        format!("/contoso/Employee()&{sas}"),
        format!("/contoso/Employee()%3FSIG%3D{signature}"),
        format!("/sig={signature}"),
    ] {
        for address in [tables, queues, blobs] {
            for method in ["GET", "PUT", "DELETE", "OPTIONS", "NONSENSE"] {
                let status = seen.ask(address, &format!("{method} {target}"), "", "").await;
                assert!(status >= 400, "{method} {target}: {status}");
                assert!(address != blobs || status == 501, "{method} {target}: {status}");
            }
        }
    }
    // The parts of this transaction have signatures too.
    let part = format!(
        "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
         GET http://x/contoso/Employee()?{sas} HTTP/1.1\r\nAuthorization: SharedKey contoso:{KEY}\r\n\r\n--b--\r\n"
    );
    let media_type = "content-type: multipart/mixed; boundary=b\r\n";
    for line in [format!("POST /contoso/$batch?{sas}"), "POST /contoso/$batch".to_owned()] {
        seen.ask(tables, &line, media_type, &part).await;
    }
    // These requests are not HTTP, or end too early.
    for address in [tables, queues, blobs] {
        for text in [
            format!("GET /contoso/Employee()?{sas} HTTP/9.9\r\n\r\n"),
            format!("GET /contoso/ Employee()?{sas} HTTP/1.1\r\n\r\n"),
            format!("GET /contoso/Employee()?{sas} HTTP/1.1\r\nhost"),
            format!("POST /contoso/Employee?{sas} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{{"),
            format!("POST /contoso/Employee?{sas} HTTP/1.1\r\nhost: x\r\ncontent-length: 5000000\r\n\r\n"),
            format!("GET /{}?{sas} HTTP/1.1\r\nhost: x\r\n\r\n", "a".repeat(100_000)),
        ] {
            seen.cut(address, &text).await;
        }
    }
}

/// Sends similar requests over HTTP/2, whose framing is logged separately.
async fn http_2(seen: &mut Seen, tables: SocketAddr) {
    let stream = TokioIo::new(TcpStream::connect(tables).await.unwrap());
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let headers = seen.signed(Scheme::TableLite, "GET", "/contoso/Employee()", 0);
    let mut request = Request::builder().uri(format!("http://{tables}/contoso/Employee()"));
    request.headers_mut().unwrap().extend(headers);
    let answer = sender.send_request(request.body(Full::new(Bytes::new())).unwrap()).await.unwrap();
    assert_eq!(answer.status().as_u16(), 200);
    seen.answers.push(format!("{:?}", answer.headers()));
    seen.answers.push(format!("{:?}", answer.into_body().collect().await.unwrap().to_bytes()));
    drop(sender);
    connection.await.unwrap().unwrap();
}

#[test]
fn no_key_or_signature_is_in_the_log_a_response_or_the_metrics() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_ansi(false);
    subscriber.with_writer(move || writer.clone()).init();
    let mut seen = Seen { secrets: [KEY, MEANING].map(str::to_owned).into(), answers: Vec::new() };
    let config = Config::on_loopback(Account::new(key(), Engine::in_memory()));
    seen.answers.push(format!("{config:?}"));
    with_server(config, async |connection, observed| {
        let [tables, queues, blobs] = ["Table", "Queue", "Blob"].map(|service| -> SocketAddr {
            let (_, rest) = connection.split_once(&format!("{service}Endpoint=http://")).unwrap();
            rest.split('/').next().unwrap().parse().unwrap()
        });
        keys(&mut seen, tables, queues).await;
        tokens(&mut seen, tables, queues, blobs).await;
        http_2(&mut seen, tables).await;
        for path in ["/metrics", "/metrics?sig=x", "/nothing"] {
            seen.answers.push(asked(observed, path).await);
        }
    });
    let log = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    // The log must have its most detailed level, and must contain the requests. Otherwise, the absence of secrets would prove nothing.
    assert!(log.matches("a request").count() > 100 && log.contains("TRACE "), "{log}");
    assert!(seen.secrets.len() > 9 && seen.answers.len() > 200);
    for secret in &seen.secrets {
        assert!(secret.len() > 5, "{secret}");
        let line =
            log.lines().chain(seen.answers.iter().map(String::as_str)).find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}
