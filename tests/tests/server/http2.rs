//! Tests HTTP/2 with prior knowledge: concurrent requests on one connection.

use bytes::Bytes;
use chrono::Utc;
use futures_util::future::join_all;
use http::{HeaderMap, Request, Version};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use table_server::Config;
use table_wire::auth::{AccountKey, Scheme, SignedParts, print_http_date};
use tests::served::{ACCOUNT, KEY, account, with_server};
use tokio::net::TcpStream;

/// Returns a signed request. `base` is the scheme and host of the URL.
pub(crate) fn request(base: &str, method: &'static str, path: &str, body: &str) -> Request<Full<Bytes>> {
    let path = format!("/{ACCOUNT}/{path}");
    let mut headers = HeaderMap::new();
    headers.insert("x-ms-date", print_http_date(Utc::now()).parse().unwrap());
    let parts = SignedParts { method, path: &path, query: "", headers: &headers, length: body.len() };
    let authorization = Scheme::TableLite.authorization(&AccountKey::new(ACCOUNT, KEY).unwrap(), parts);
    let mut request = Request::builder().method(method).uri(format!("{base}{path}"));
    request.headers_mut().unwrap().extend(headers);
    let request = request.header("authorization", authorization).header("accept", "application/json");
    request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()
}

#[test]
fn requests_share_a_connection_of_http_2() {
    with_server(Config::on_loopback(account()), async |connection, _| {
        let host = connection.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap();
        let stream = TokioIo::new(TcpStream::connect(host).await.unwrap());
        let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        let connection = tokio::spawn(connection);
        let ask = |method, path: &str, body: &str| {
            let (mut sender, request) =
                (sender.clone(), request(&format!("http://{host}"), method, path, body));
            async move {
                let answer = sender.send_request(request).await.unwrap();
                assert_eq!(answer.version(), Version::HTTP_2);
                let status = answer.status().as_u16();
                let body = answer.into_body().collect().await.unwrap().to_bytes();
                (status, String::from_utf8(body.to_vec()).unwrap())
            }
        };
        assert_eq!(ask("POST", "Tables", "{\"TableName\":\"Employee\"}").await.0, 201);
        let entity = |n: usize| format!("{{\"PartitionKey\":\"Sales\",\"RowKey\":\"{n}\"}}");
        let inserted = join_all((0..50).map(|n| ask("POST", "Employee", &entity(n)))).await;
        assert!(inserted.iter().all(|(status, _)| *status == 201), "{inserted:?}");
        let (status, body) = ask("GET", "Employee()", "").await;
        assert_eq!((status, body.matches("\"RowKey\"").count()), (200, 50));
        // URLs in the response start with the authority of the request, because HTTP/2 has no `Host` header.
        assert!(body.contains(&format!("http://{host}/{ACCOUNT}/$metadata#Employee")), "{body}");
        // The connection ends once its last sender is dropped. The server waits for this when it shuts down.
        drop(sender);
        connection.await.unwrap().unwrap();
    });
}

/// Tests that a request with two different hosts is rejected. The signature does not cover the host. A proxy and the server might therefore use different
/// hosts.
#[test]
fn a_host_other_than_the_authority_is_refused() {
    with_server(Config::on_loopback(account()), async |connection, _| {
        let host = connection.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap();
        let stream = TokioIo::new(TcpStream::connect(host).await.unwrap());
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        let connection = tokio::spawn(connection);
        for (hosts, expected) in [
            (&[][..], 200),
            (&[host], 200),
            (&["contoso.table.example"], 400),
            (&[host, "contoso.table.example"], 400),
            (&[""], 400),
        ] {
            let mut request = request(&format!("http://{host}"), "GET", "Tables", "");
            for value in hosts {
                request.headers_mut().append("host", value.parse().unwrap());
            }
            let answer = sender.send_request(request).await.unwrap();
            assert_eq!(answer.status().as_u16(), expected, "{hosts:?}");
        }
        drop(sender);
        connection.await.unwrap().unwrap();
    });
}
