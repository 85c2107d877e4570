//! Tests HTTPS with a certificate created by the server.

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use http::Version;
use http_body_util::BodyExt;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use table_azure::{AzureQueues, AzureTables, Options, RetryPolicy};
use table_core::{QueueName, QueueStore, TableName, TableStore};
use table_server::{Config, Tls};
use tests::served::{account, asked, with_server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::http2::request;

/// The environment variable that contains the connection string for the second process of the test.
const CONNECTION: &str = "TABLES_TEST_TLS_CONNECTION";

fn under_tls(folder: &Path) -> Config {
    let mut config = Config::on_loopback(account());
    config.tls = Some(Tls::self_signed(folder, &[]).unwrap());
    config
}

/// Returns the host of the table service in a connection string.
fn host(connection: &str) -> &str {
    let (_, rest) = connection.split_once("TableEndpoint=https://").unwrap();
    rest.split('/').next().unwrap()
}

/// Opens a TLS connection that offers the given protocols. It trusts only the certificate in `folder`.
async fn connected(folder: &Path, host: &str, offered: &[&str]) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join(Tls::CERTIFICATE)).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = offered.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = ServerName::try_from("contoso.table.localhost").unwrap();
    let stream = TcpStream::connect(host).await.unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

/// Tests the project's own client, which trusts the certificates of the system. `SSL_CERT_FILE` replaces these certificates for an entire process. The test
/// therefore runs itself in a second process.
#[test]
fn our_client_works_once_it_trusts_the_certificate() {
    if let Ok(connection) = env::var(CONNECTION) {
        return pollster::block_on(async {
            let options = || Options::new().retry(RetryPolicy::NONE);
            let tables = AzureTables::from_connection_string_with(&connection, options()).unwrap();
            tables.create_table(&TableName::new("Employee").unwrap()).await.unwrap();
            assert_eq!(tables.list_tables("", None, 10).await.unwrap().names.len(), 1);
            let queues = AzureQueues::from_connection_string_with(&connection, options()).unwrap();
            assert!(queues.create_queue(&QueueName::new("work").unwrap()).await.unwrap());
        });
    }
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    Tls::self_signed(other.path(), &[]).unwrap();
    with_server(under_tls(folder.path()), async |connection, _| {
        for (trusted, works) in [(folder.path(), true), (other.path(), false)] {
            let mut client = Command::new(env::current_exe().unwrap());
            client.args(["--exact", "tls::our_client_works_once_it_trusts_the_certificate"]);
            client.env(CONNECTION, &connection).env("SSL_CERT_FILE", trusted.join(Tls::CERTIFICATE));
            let output = tokio::task::spawn_blocking(move || client.output()).await.unwrap().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(output.status.success(), works, "{said}");
            assert_eq!(said.contains("1 passed"), works, "{said}");
        }
    });
}

#[test]
fn http_2_is_negotiated_in_the_handshake() {
    let folder = tempfile::tempdir().unwrap();
    with_server(under_tls(folder.path()), async |connection, _| {
        let host = host(&connection);
        for (offered, agreed) in [(&["h2", "http/1.1"][..], "h2"), (&["http/1.1"], "http/1.1")] {
            let stream = connected(folder.path(), host, offered).await;
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(agreed.as_bytes()));
        }
        let stream = TokioIo::new(connected(folder.path(), host, &["h2"]).await);
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        let connection = tokio::spawn(connection);
        let request = request(&format!("https://{host}"), "POST", "Tables", "{\"TableName\":\"Employee\"}");
        let answer = sender.send_request(request).await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.version()), (201, Version::HTTP_2));
        let location = answer.headers()["location"].to_str().unwrap();
        assert!(location.starts_with(&format!("https://{host}/contoso/Tables(")), "{location}");
        drop(answer.into_body().collect().await.unwrap());
        drop(sender);
        connection.await.unwrap().unwrap();
    });
}

/// Tests that the server releases broken connections. Their clients do not speak TLS, stop during the handshake, or never send anything.
#[test]
fn broken_handshakes_are_released() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = under_tls(folder.path());
    // The limit is lower than the number of connections that are broken below. Leaked connections would therefore exhaust it.
    config.limits.connections = 4;
    config.limits.read_timeout = Duration::from_millis(20);
    with_server(config, async |connection, observed| {
        let host = host(&connection);
        for text in ["", "GET / HTTP/1.1\r\nhost: x\r\n\r\n", "\x16\x03\x01", "\x16\x03\x01\x02\x00\x01\x00"]
        {
            for stays in [true, false, true, false] {
                let mut stream = TcpStream::connect(host).await.unwrap();
                stream.write_all(text.as_bytes()).await.unwrap();
                if stays {
                    // The server closes the connection with an alert or a reset.
                    let _ = stream.read_to_end(&mut Vec::new()).await;
                }
            }
        }
        while !asked(observed, "/metrics").await.contains("\ntable_server_connections 0\n") {}
        drop(connected(folder.path(), host, &[]).await);
    });
}
