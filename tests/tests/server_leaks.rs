//! Tests that the server does not leak memory if thousands of connections break, stall or send invalid data. The test is in a separate binary, because
//! allocations are counted for the entire process.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::System;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use table_server::{Config, Tls};
use tests::served::{account, asked, with_server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The number of warm-up rounds before memory is measured. They fill the buffers that are kept for later connections, and make the one-time allocations.
const WARM: usize = 2;
const ROUNDS: usize = 7;
/// The number of connections of each kind in a round.
const CONCURRENT: usize = 12;
/// The number of connections open at the same time. It is lower than the operating system's listen backlog.
const AT_ONCE: usize = 24;

/// The behaviour of the client after it has sent its last byte.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// The client closes the connection.
    Ends,
    /// The client sends nothing more and waits until the server closes the connection.
    Stays,
}

fn kinds() -> Vec<(Vec<u8>, Then)> {
    let post = "POST /contoso/Employee HTTP/1.1\r\nhost: x\r\n";
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let texts = [
        String::new(),
        "\0\0\0\0".to_owned(),
        "GET / HT".to_owned(),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
        "GET /contoso/Tables HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        format!("{post}content-length: 1000\r\n\r\n{{"),
        format!("{post}transfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n"),
        format!("{post}x: {}\r\n\r\n", "y".repeat(100_000)),
        preface[..10].to_owned(),
        preface.to_owned(),
        // This is a SETTINGS frame, followed by a stream whose headers never end.
        format!("{preface}\0\0\0\u{4}\0\0\0\0\0\0\0\u{4}\u{1}\0\0\0\0\u{1}"),
    ];
    let thens = |text: String| [Then::Ends, Then::Stays].map(|then| (text.clone().into_bytes(), then));
    texts.into_iter().flat_map(thens).collect()
}

async fn connect(address: SocketAddr, text: &[u8], then: Then) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may have rejected the request before it was sent completely.
    let _ = stream.write_all(text).await;
    if matches!(then, Then::Stays) {
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
}

/// Runs one round. Then waits until the server reports neither connections nor requests in progress.
async fn round(addresses: &[SocketAddr], observed: SocketAddr) {
    for address in addresses {
        let kinds = kinds();
        let all = kinds.iter().flat_map(|kind| [kind; CONCURRENT]);
        let all =
            stream::iter(all).for_each_concurrent(AT_ONCE, |(text, then)| connect(*address, text, *then));
        all.await;
    }
    let nothing = ["\ntable_server_connections 0\n", "\ntable_server_requests_under_way 0\n"];
    loop {
        let metrics = asked(observed, "/metrics").await;
        if nothing.iter().all(|line| metrics.contains(line)) {
            return;
        }
    }
}

fn live() -> i64 {
    let stats = COUNTING.stats();
    i64::try_from(stats.bytes_allocated).unwrap() - i64::try_from(stats.bytes_deallocated).unwrap()
}

/// Runs all rounds against a server. Returns the number of connections that were opened after the first [`WARM`] rounds. Also returns the number of bytes by
/// which memory has grown since then.
fn left(mut config: Config, at: &str) -> (usize, i64) {
    config.limits.read_timeout = Duration::from_millis(20);
    config.limits.idle_timeout = Duration::from_millis(20);
    let (mut grown, mut connections) = (0, 0);
    with_server(config, async |connection, observed| {
        let address = |service: &str| -> SocketAddr {
            let (_, rest) = connection.split_once(&format!("{service}Endpoint={at}")).unwrap();
            rest.split('/').next().unwrap().parse().unwrap()
        };
        let addresses = ["Table", "Queue", "Blob"].map(address);
        let mut warm = 0;
        for number in 0..ROUNDS {
            if number == WARM {
                warm = live();
            }
            round(&addresses, observed).await;
        }
        grown = live() - warm;
        connections = (ROUNDS - WARM) * addresses.len() * kinds().len() * CONCURRENT;
    });
    (connections, grown)
}

/// Tests all kinds of connections in one function. Concurrent tests would count each other's allocations.
#[test]
fn thousands_of_broken_connections_leak_nothing() {
    let plain = left(Config::on_loopback(account()), "http://");
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::on_loopback(account());
    config.tls = Some(Tls::self_signed(folder.path(), &[]).unwrap());
    for (connections, bytes) in [plain, left(config, "https://")] {
        assert!(connections > 3_000, "{connections}");
        // This is less than five bytes per connection.
        assert!(bytes < 16 << 10, "{connections} connections have left {bytes} bytes");
    }
}
