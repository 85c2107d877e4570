//! A loopback server that forwards requests to the emulator over HTTP/1.1. Each connection handles one request at a time.

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use table_cosmos::emulator::{Answer, Emulator};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};

/// Serves requests until the runtime ends, and counts the connections. Returns the server's endpoint.
pub(crate) async fn serve(emulator: Emulator, connections: Arc<AtomicUsize>) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let endpoint = format!("http://{}/", listener.local_addr()?);
    let own = endpoint.clone();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            connections.fetch_add(1, Ordering::Relaxed);
            let (emulator, own) = (emulator.clone(), own.clone());
            tokio::spawn(async move { connected(&emulator, &own, BufStream::new(connection)).await });
        }
    });
    Ok(endpoint)
}

async fn connected(
    emulator: &Emulator,
    endpoint: &str,
    mut connection: BufStream<TcpStream>,
) -> io::Result<()> {
    loop {
        let mut line = String::new();
        if connection.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let mut words = line.split_whitespace();
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        // The Python client ends paths with a slash, which the service accepts but the emulator does not.
        let (method, target) = (method.to_owned(), target.trim_end_matches('/').to_owned());
        let (mut headers, mut length) = (Vec::new(), 0);
        loop {
            let mut line = String::new();
            connection.read_line(&mut line).await?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
            if name == "content-length" {
                length = value.parse().map_err(io::Error::other)?;
            }
            headers.push((name, value));
        }
        let mut body = vec![0; length];
        connection.read_exact(&mut body).await?;
        let is_account = target.is_empty();
        let is_last = headers.contains(&("connection".to_owned(), "close".to_owned()));
        let Ok(mut answer) = emulator.exchange(&method, &target, headers, body).await else {
            connection.write_all(b"HTTP/1.1 400 -\r\ncontent-length: 0\r\n\r\n").await?;
            return connection.flush().await;
        };
        if is_account {
            // The account properties contain the host names of its regions, to which clients send all further requests.
            let text = String::from_utf8_lossy(&answer.body);
            answer.body = text.replace("https://eastus.emulator.local/", endpoint).into_bytes();
        }
        respond(&mut connection, &answer).await?;
        if is_last {
            return Ok(());
        }
    }
}

async fn respond(connection: &mut BufStream<TcpStream>, answer: &Answer) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} -\r\ncontent-length: {}\r\n", answer.status, answer.body.len());
    for (name, value) in &answer.headers {
        if name != "content-length" {
            let _ = write!(head, "{name}: {value}\r\n");
        }
    }
    head.push_str("\r\n");
    connection.write_all(head.as_bytes()).await?;
    connection.write_all(&answer.body).await?;
    connection.flush().await
}
