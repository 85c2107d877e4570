//! When the paused clock of a test may go on: only while its server is silent on purpose, or while no request is under way.
//!
//! A paused clock jumps to its next timer whenever the runtime has nothing to do, and bytes between two sockets are nothing that
//! it knows of: where the machine delivers them late, a time limit would pass before the answer is there. Tokio lets no clock jump
//! while a blocking task runs, so each attempt has one.

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
    /// What holds the clock of the test on this thread, which is where its client and its server run. A test that pauses its
    /// clock has one attempt under way at a time.
    static HOLD: Cell<Option<Sender<()>>> = const { Cell::new(None) };
}

/// An attempt of a request, while which the clock stands.
pub(crate) async fn under_way<T>(attempt: impl Future<Output = T>) -> T {
    let _held = Held::new();
    attempt.await
}

/// Lets the clock go on, so that the attempt under way reaches its time limit: its server will say nothing more.
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

/// However the attempt ends: a wait between two attempts lets the time pass.
impl Drop for Held {
    fn drop(&mut self) {
        pass();
    }
}

/// The more the machine lets it wait, the surer a clock that jumps would have passed the time limits, of 10 and of 35 s.
#[tokio::test(start_paused = true)]
async fn a_late_answer_takes_no_time_of_a_paused_clock() {
    const LATE: Duration = Duration::from_millis(20);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut server = Server::start([]).await;
    server.endpoint = format!("http://{}/devstoreaccount1", listener.local_addr().unwrap());
    // Not tokio's, whose clock would know that there is something to wait for.
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
