//! Tests of the limits of connections and uploads, and of the end of a server.

use std::sync::mpsc;
use std::time::Duration;

use chrono::Utc;
use table_core::{Engine, QueueName, TableName};
use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY, Scheme, SignedParts, print_http_date};
use table_wire::sas::{
    AccessPolicy, AccountPermissions, AccountSas, Lifetime, QueuePermissions, QueueToken, ResourceTypes,
    Services, TablePermissions, TableSas,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::*;
use crate::account::Account;
use crate::limits::ServerLimits;

async fn bound(limits: ServerLimits) -> Server {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    Server::bind(Config { limits, ..Config::on_loopback(account) }.ephemeral()).await.unwrap()
}

/// Sends bytes, and waits until the server has accepted the connection.
async fn sent(server: &Shared, address: SocketAddr, bytes: &str) -> TcpStream {
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(bytes.as_bytes()).await.unwrap();
    while server.open.count() == 0 {
        tokio::task::yield_now().await;
    }
    client
}

#[tokio::test]
async fn every_limit_may_be_the_maximum() {
    let (time, number) = (Duration::MAX, usize::MAX);
    let server = bound(ServerLimits {
        body_bytes: number,
        connections: number,
        unauthenticated_connections: number,
        first_request: time,
        requests: number,
        unread_response_bytes: number,
        read_timeout: time,
        idle_timeout: time,
        shutdown_grace: time,
    })
    .await;
    let (end, ended) = oneshot::channel::<()>();
    let (shared, address) = (Arc::clone(&server.shared), server.tables());
    let asking = async {
        let request = "GET /devstoreaccount1/Tables HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        let mut answer = String::new();
        sent(&shared, address, request).await.read_to_string(&mut answer).await.unwrap();
        drop(end);
        answer
    };
    let (answer, ()) = tokio::join!(asking, server.serve_until(async { drop(ended.await) }));
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[tokio::test]
async fn no_connection_remains_when_a_server_has_stopped() {
    let limits = ServerLimits { shutdown_grace: Duration::ZERO, ..ServerLimits::default() };
    let server = bound(limits).await;
    let (shared, address) = (Arc::clone(&server.shared), server.tables());
    let (connected, connection) = oneshot::channel();
    let client = async {
        // The request's head is incomplete, so the connection is not idle.
        drop(connected.send(sent(&shared, address, "GET /devstoreaccount1").await));
    };
    let mut clients = Vec::new();
    let end = async { clients.push(connection.await.unwrap()) };
    tokio::join!(client, server.serve_until(end));
    assert_eq!((clients.len(), shared.open.count()), (1, 0));
}

/// Lists the tables, and returns `true` if the response is complete and has status 200.
async fn lists_tables(client: &mut TcpStream) -> bool {
    let key = AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap();
    let date = print_http_date(Utc::now());
    let headers = [("x-ms-date".parse().unwrap(), date.parse().unwrap())].into_iter().collect();
    let path = format!("/{EMULATOR_ACCOUNT}/Tables");
    let parts = SignedParts { method: "GET", path: &path, query: "", headers: &headers, length: 0 };
    let signature = Scheme::Table.authorization(&key, parts);
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: x\r\nx-ms-date: {date}\r\nauthorization: {signature}\r\n\r\n");
    // The server may have closed the connection.
    drop(client.write_all(request.as_bytes()).await);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match client.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return false,
        }
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap()];
    head.starts_with("http/1.1 200") && client.read_exact(&mut body).await.is_ok()
}

/// Keeps the paused clock from advancing until the result is dropped. Otherwise, the clock would jump to the next timer while bytes are in transit or while
/// an engine thread works.
fn hold() -> mpsc::Sender<()> {
    let (held, end) = mpsc::channel();
    tokio::task::spawn_blocking(move || end.recv());
    held
}

/// Tests that a connection stays open between requests for `idle_timeout`, and is closed after at most twice that time, regardless of the `read_timeout`.
#[tokio::test(start_paused = true)]
async fn a_pause_between_requests_is_limited_by_the_idle_timeout_alone() {
    let seconds = Duration::from_secs;
    for (read_timeout, idle_timeout, pause, stays_open) in
        [(1, 60, 59, true), (1, 60, 121, false), (3_600, 60, 121, false), (1, 3_600, 3_599, true)]
    {
        let limits = ServerLimits {
            read_timeout: seconds(read_timeout),
            idle_timeout: seconds(idle_timeout),
            first_request: seconds(3_600),
            ..ServerLimits::default()
        };
        let held = hold();
        let server = bound(limits).await;
        let (end, ended) = oneshot::channel::<()>();
        let address = server.tables();
        let asking = async {
            let mut client = TcpStream::connect(address).await.unwrap();
            let first = lists_tables(&mut client).await;
            drop(held);
            tokio::time::sleep(seconds(pause)).await;
            let _held = hold();
            let second = lists_tables(&mut client).await;
            drop(end);
            [first, second]
        };
        let (answers, ()) = tokio::join!(asking, server.serve_until(async { drop(ended.await) }));
        assert_eq!(answers, [true, stays_open], "{pause} s of {idle_timeout} s");
    }
}

/// Returns the query strings of signatures, each for an hour from now.
mod signature {
    use super::*;

    fn key() -> AccountKey {
        AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap()
    }

    fn hour() -> Lifetime {
        Lifetime::valid_for(Utc::now(), Duration::from_secs(3_600))
    }

    /// A signature for the partition `Sales` of the table `Employee`.
    pub(super) fn of_partition(permissions: TablePermissions) -> String {
        let sas = TableSas::table(TableName::new("Employee").unwrap()).partition("Sales").unwrap();
        sas.allow(permissions).lifetime(hour()).sign(&key()).unwrap().query_string()
    }

    /// A signature for the queue `work`.
    pub(super) fn of_queue(permissions: QueuePermissions) -> String {
        let expiry = Some(Utc::now() + chrono::TimeDelta::hours(1));
        let policy = AccessPolicy { permissions: Some(permissions), expiry, start: None };
        QueueToken::sign(&key(), &QueueName::new("work").unwrap(), policy, None).unwrap().query_string()
    }

    /// A signature for both services of the account.
    pub(super) fn of_account(types: ResourceTypes, permissions: AccountPermissions) -> String {
        let services = Services::TABLE.and(Services::QUEUE);
        AccountSas::new(services, types, permissions, hour()).sign(&key()).unwrap().query_string()
    }
}

/// Sends the head of an upload, but no body, and returns the head of the response.
async fn upload(
    address: SocketAddr,
    (target, headers): (&str, &str),
    signature: &str,
) -> (TcpStream, String) {
    let (method, target) = target.split_once(' ').unwrap();
    let separator = if target.contains('?') { '&' } else { '?' };
    let request = format!(
        "{method} /{EMULATOR_ACCOUNT}/{target}{separator}{signature} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 9\r\n{headers}\r\n"
    );
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    (client, String::from_utf8(head).unwrap())
}

/// Tests that an upload takes no permit if the head of its request shows that the signature does not permit it. Otherwise, a client that may only read could
/// keep others from writing.
#[tokio::test]
async fn sas_11_and_asas_5_an_upload_that_its_signature_does_not_permit_takes_no_permit() {
    use ResourceTypes as Types;
    use TablePermissions as May;
    let server = bound(ServerLimits { requests: 1, ..ServerLimits::default() }).await;
    let (tables, queues) = (server.tables(), server.queues());
    let (end, ended) = oneshot::channel::<()>();
    let entity = |partition| format!("Employee(PartitionKey='{partition}',RowKey='1')");
    let (put, merge, other) = (
        format!("PUT {}", entity("Sales")),
        format!("MERGE {}", entity("Sales")),
        format!("PUT {}", entity("Other")),
    );
    let (any, both) = ("if-match: *\r\n", May::ADD.and(May::UPDATE));
    let of_tables = [
        (("POST Employee", ""), signature::of_partition(May::READ), 403),
        (("POST Employee", ""), signature::of_partition(May::ADD), 503),
        (("POST Other", ""), signature::of_partition(May::ADD), 403),
        (("POST Employee/Tables", ""), signature::of_partition(May::READ), 403),
        (("POST Tables", ""), signature::of_partition(May::ADD), 403),
        ((&*put, ""), signature::of_partition(May::UPDATE), 403),
        ((&*put, any), signature::of_partition(May::UPDATE), 503),
        ((&*merge, ""), signature::of_partition(both), 503),
        ((&*other, any), signature::of_partition(May::UPDATE), 403),
        // The operations of these requests do not use a body, so the requests need no permit for an upload.
        (("POST Employee", "x-http-method: MERGE\r\n"), signature::of_partition(May::READ), 405),
        (("GET Employee", ""), signature::of_partition(May::READ), 404),
        ((&put.replace("PUT", "DELETE"), any), signature::of_partition(May::READ), 403),
        (("PUT Tables", ""), signature::of_partition(May::READ), 405),
        (("POST Employee?restype=service", ""), signature::of_partition(May::READ), 400),
        ((&put.replace("PUT", "POST"), "x-http-method: MERGE\r\n"), signature::of_partition(May::ADD), 403),
        // Only the body of a batch names its operations.
        (("POST $batch", ""), signature::of_partition(May::READ), 503),
        (("POST $batch", ""), signature::of_account(Types::SERVICE, AccountPermissions::ADD), 403),
        (("POST Employee", ""), signature::of_account(Types::CONTAINER, AccountPermissions::ADD), 403),
        (("POST Employee", ""), signature::of_account(Types::OBJECT, AccountPermissions::ADD), 503),
        (("POST Tables", ""), signature::of_account(Types::CONTAINER, AccountPermissions::READ), 403),
        (("POST Tables", ""), signature::of_account(Types::CONTAINER, AccountPermissions::CREATE), 503),
        (("PUT Employee?comp=acl", ""), signature::of_partition(both), 403),
        (
            ("PUT ?restype=service&comp=properties", ""),
            signature::of_account(Types::SERVICE, AccountPermissions::READ),
            403,
        ),
        (
            ("PUT ?restype=service&comp=properties", ""),
            signature::of_account(Types::SERVICE, AccountPermissions::WRITE),
            503,
        ),
    ];
    let of_queues = [
        (("POST work/messages", ""), signature::of_queue(QueuePermissions::READ), 403),
        (("POST work/messages", ""), signature::of_queue(QueuePermissions::ADD), 503),
        (("PUT work?comp=acl", ""), signature::of_queue(QueuePermissions::ADD), 403),
        (("GET work/messages", ""), signature::of_queue(QueuePermissions::PROCESS), 404),
        (("PUT work/foo", ""), signature::of_queue(QueuePermissions::READ), 400),
    ];
    let asking = async {
        // This upload takes the only permit.
        let (_upload, head) = upload(tables, ("POST Employee", ""), &signature::of_partition(May::ADD)).await;
        assert!(head.starts_with("HTTP/1.1 100"), "{head}");
        for (address, requests) in [(tables, &of_tables[..]), (queues, &of_queues[..])] {
            for (request, signature, status) in requests {
                let (_client, head) = upload(address, *request, signature).await;
                assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{request:?}: {head}");
            }
        }
        drop(end);
    };
    tokio::join!(asking, server.serve_until(async { drop(ended.await) }));
}
