//! Tests clients that send signed requests but never read the responses.

use std::net::SocketAddr;

use table_server::Config;
use tests::ask::{Answer, Ask};
use tests::served::{account, asked, with_server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// The number of requests per connection. The responses exceed the send buffer, which is at most 4 MiB on Linux.
const REQUESTS: usize = 16;
const CONNECTIONS: usize = 12;
/// The size of the requested entity, in characters.
const CHARACTERS: usize = 13 * 32_000;
/// The server's limit on unread responses, in bytes. It is enough for five responses.
const LIMIT: usize = 2 << 20;
/// The maximum number of requests sent by the well-behaved client.
const ATTEMPTS: usize = 10_000;

/// Sends a request and returns the response. A separate thread sends it, because the server occupies the thread of the test.
async fn send(connection: &str, ask: Ask) -> Answer {
    let connection = connection.to_owned();
    tokio::task::spawn_blocking(move || ask.of(&connection)).await.unwrap()
}

fn get() -> Ask {
    Ask::new("GET", "Employee(PartitionKey='Sales',RowKey='1')")
}

/// Returns the number of open connections to the table service, from the metrics of the server.
async fn open_connections(observed: SocketAddr) -> usize {
    let metrics = asked(observed, "/metrics").await;
    let line = metrics.lines().find_map(|line| line.strip_prefix("table_server_connections "));
    line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{metrics}"))
}

/// Starts a server that contains one large entity, and runs `program`. It receives the connection string, the host of the server, all requests for the entity
/// as one string, and the address of the metrics endpoint.
fn run(program: impl AsyncFnOnce(String, String, String, SocketAddr)) {
    let mut config = Config::on_loopback(account());
    config.limits.unread_response_bytes = LIMIT;
    with_server(config, async |connection, observed| {
        let table = Ask::new("POST", "Tables").json("{\"TableName\":\"Employee\"}");
        assert_eq!(send(&connection, table).await.status, 201);
        let property = |number| format!(",\"P{number}\":\"{}\"", "x".repeat(32_000));
        let properties: String = (0..CHARACTERS / 32_000).map(property).collect();
        let entity = format!("{{\"PartitionKey\":\"Sales\",\"RowKey\":\"1\"{properties}}}");
        assert_eq!(send(&connection, Ask::new("POST", "Employee").json(entity)).await.status, 201);
        let host = connection.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap();
        let host = host.to_owned();
        let requests = get().written(&connection).replace("connection: close\r\n", "").repeat(REQUESTS);
        program(connection, host, requests, observed).await;
    });
}

#[test]
fn a_client_that_reads_no_responses_is_disconnected_and_displaces_no_other() {
    run(async |connection, host, requests, observed| {
        let mut silent = Vec::new();
        for _ in 0..CONNECTIONS {
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_recv_buffer_size(8 << 10).unwrap();
            let mut stream = socket.connect(host.parse().unwrap()).await.unwrap();
            stream.write_all(requests.as_bytes()).await.unwrap();
            silent.push(stream);
        }
        for attempt in 0.. {
            let found = send(&connection, get()).await;
            assert!(found.status == 200 && found.body.len() > CHARACTERS, "{} {}", found.status, found.head);
            if open_connections(observed).await <= LIMIT / CHARACTERS {
                break;
            }
            assert!(attempt < ATTEMPTS, "connections remain open");
        }
    });
}

#[test]
fn a_client_that_reads_in_small_parts_receives_all_responses() {
    run(async |_, host, requests, _| {
        let mut stream = TcpStream::connect(&host).await.unwrap();
        stream.write_all(requests.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let (mut bytes, mut part) = (0, [0; 4096]);
        loop {
            let read = stream.read(&mut part).await.unwrap();
            if read == 0 {
                break;
            }
            bytes += read;
        }
        assert!(bytes > REQUESTS * CHARACTERS, "{bytes}");
    });
}
