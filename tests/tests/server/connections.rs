//! Tests the limit on authenticated connections. A connection is authenticated once it has sent a request with a valid signature.

use std::time::Duration;

use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use table_server::Config;
use tests::served::{account, with_server};
use tokio::net::TcpStream;

use crate::http2::request;
use crate::neighbours::{connect, relative, text};

const ENTITY: &str = "Employee(PartitionKey='Sales',RowKey='1')";

/// Tests that the first request of a connection beyond the limit is rejected before its operation begins.
///
/// Otherwise, the connection could be closed while the operation runs, and its response would be lost.
#[test]
fn beyond_the_limit_the_first_request_of_a_connection_is_refused_and_not_applied() {
    let mut config = Config::on_loopback(account());
    config.limits.connections = 1;
    with_server(config, async |connection, _| {
        let host = connection.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap();
        let mut first = connect(host).await;
        let create = relative(host, "POST", "Tables", "{\"TableName\":\"Employee\"}");
        assert_eq!(text(first.send_request(create).await.unwrap()).await.0, 201);

        let entity = "{\"PartitionKey\":\"Sales\",\"RowKey\":\"1\"}";
        let mut second = connect(host).await;
        let refused = second.send_request(relative(host, "POST", "Employee", entity)).await.unwrap();
        let header = |name: &str| refused.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let found = ["x-ms-error-code", "connection", "retry-after"].map(header);
        assert_eq!(found, ["ServerBusy", "close", "1"].map(|value| Some(value.to_owned())));
        assert_eq!(text(refused).await.0, 503);

        let stream = TokioIo::new(TcpStream::connect(host).await.unwrap());
        let (mut third, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        let connection = tokio::spawn(connection);
        let insert = || request(&format!("http://{host}"), "POST", "Employee", entity);
        assert_eq!(text(third.send_request(insert()).await.unwrap()).await.0, 503);

        // The connection within the limit is not affected.
        first.ready().await.unwrap();
        let read = first.send_request(relative(host, "GET", ENTITY, "")).await.unwrap();
        assert_eq!(text(read).await.0, 404);
        drop(first);
        // An HTTP/2 connection is not closed when its request is rejected. Once the server has noticed that the first connection has ended, the second one
        // takes the free place.
        loop {
            match text(third.send_request(insert()).await.unwrap()).await.0 {
                503 => tokio::time::sleep(Duration::from_millis(10)).await,
                status => break assert_eq!(status, 201),
            }
        }
        drop(third);
        connection.await.unwrap().unwrap();
    });
}
