//! Controls the paused clock in tests. The clock advances only while the server is intentionally silent, or while no request is in progress.
//!
//! A paused clock jumps to the next timer whenever the runtime is idle. The runtime also counts as idle while bytes are in transit between two sockets. If
//! these bytes arrived late, a time limit would expire before the response arrived. Tokio does not advance the clock while a blocking task runs, so a blocking
//! task runs during each attempt.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use table_core::TableStore;
use tokio::time::Instant;

use super::server::{Server, table};
use crate::Options;

thread_local! {
    /// The handle of the blocking task that holds this thread's clock. Dropping the handle releases the clock.
    ///
    /// Client and server both run on this thread. A test with a paused clock makes only one attempt at a time.
    static HOLD: Cell<Option<Sender<()>>> = const { Cell::new(None) };
}

/// Runs an attempt, and holds the clock until the attempt ends.
pub(crate) async fn under_way<T>(attempt: impl Future<Output = T>) -> T {
    let _held = Held::new();
    attempt.await
}

/// Releases the clock. The current attempt then reaches its time limit, because the server remains silent.
pub(super) fn pass() {
    HOLD.set(None);
}

struct Held;

impl Held {
    fn new() -> Self {
        let (sender, receiver) = channel();
        tokio::task::spawn_blocking(move || receiver.recv());
        HOLD.set(Some(sender));
        Self
    }
}

/// Releases the clock at the end of each attempt, so time can pass between attempts.
impl Drop for Held {
    fn drop(&mut self) {
        pass();
    }
}

/// Tests that late bytes do not advance the paused clock. If the clock jumped, the time limit of 10 s or 35 s would expire.
#[tokio::test(start_paused = true)]
async fn a_late_response_does_not_advance_a_paused_clock() {
    const LATE: Duration = Duration::from_millis(20);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut server = Server::start([]).await;
    server.endpoint = format!("http://{}/devstoreaccount1", listener.local_addr().unwrap());
    // This uses a thread's sleep, because the paused clock would skip a tokio sleep.
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"}") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.extend(byte);
        }
        for piece in ["HTTP/1.1 204 No Content\r\n", "\r\n"] {
            std::thread::sleep(LATE);
            stream.write_all(piece.as_bytes()).unwrap();
        }
    });
    let began = Instant::now();
    server.client(Options::new()).create_table(&table()).await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO);
    answering.join().unwrap();
}
