//! Tests malformed requests and broken connections.

use std::net::SocketAddr;

use table_server::{Account, Config};
use tests::fuzz::{Session, Target, requests};
use tests::served::{account, asked, with_server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The number of random requests. In CI, the program `fuzz` sends far more.
const REQUESTS: u64 = 10_000;
/// The number of requests after which the account is replaced to free memory.
const OF_ONE_ACCOUNT: u64 = 5_000;

/// Sends many mutated requests to a server in the test process. The test fails if a response violates a guarantee. For example, a response must have an error
/// code, and must not report an internal error or contain the account key.
#[test]
fn malformed_requests_are_answered() {
    thread_local! {
        static ACCOUNT: std::cell::RefCell<Option<Account>> = const { std::cell::RefCell::new(None) };
    }
    fn read(bytes: &[u8]) -> bool {
        ACCOUNT.with_borrow_mut(|account| {
            let account = account.get_or_insert_with(requests::account);
            requests::ask(account, bytes).as_ref().is_some_and(requests::judge)
        })
    }
    let target = Target { name: "replay", read, samples: requests::samples };
    let mut session = Session::new(target, 20_140_731);
    for number in 0..REQUESTS {
        if number % OF_ONE_ACCOUNT == 0 {
            ACCOUNT.set(None);
        }
        session.step().unwrap_or_else(|found| panic!("request {number}: {found:?}"));
    }
    // Some requests must be accepted, and some must be rejected.
    assert!((REQUESTS / 100..REQUESTS * 9 / 10).contains(&session.accepted), "{session:?}");
}

/// Tests that an HTTP/1.1 response states for how long an idle connection stays open.
#[test]
fn keep_alive_is_named_over_http_1_1() {
    with_server(Config::on_loopback(account()), async |connection, _| {
        let tables =
            connection.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        let mut stream = TcpStream::connect(tables).await.unwrap();
        let request = b"GET /contoso/Tables HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.to_ascii_lowercase().contains("\r\nkeep-alive: timeout=5\r\n"), "{answer}");
    });
}

/// Tests that a connection is closed and released if its input is not HTTP, is incomplete, or never ends.
#[test]
fn broken_connections_are_released() {
    // The limit is lower than the number of connections that are broken below. If connections leaked, they would exhaust it.
    let mut config = Config::on_loopback(account());
    config.limits.connections = 16;
    with_server(config, async |connection, observed| {
        let tables =
            connection.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(100_000));
        let headers = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(10_000));
        for round in 0..200 {
            for text in [
                "",
                "\0\0\0\0",
                "GET",
                "GET / HTTP/9.9\r\n\r\n",
                "POST /contoso/Employee HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{",
                "POST /contoso/Employee HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
                "POST /contoso/Employee HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0",
            ] {
                let mut stream = TcpStream::connect(&tables).await.unwrap();
                stream.write_all(text.as_bytes()).await.unwrap();
            }
            if round % 20 == 0 {
                for text in [&long, &headers] {
                    let mut stream = TcpStream::connect(&tables).await.unwrap();
                    // The server may reject the request before it has been sent completely.
                    let _ = stream.write_all(text.as_bytes()).await;
                }
            }
        }
        // Each call to `open` lets the server run. All connections are therefore closed eventually.
        while open(observed).await != 0 {}
    });
}

/// Returns the number of open connections, from the metrics of the server.
async fn open(observed: SocketAddr) -> u64 {
    let text = asked(observed, "/metrics").await;
    let line = text.lines().find_map(|line| line.strip_prefix("table_server_connections "));
    line.unwrap().parse().unwrap()
}
