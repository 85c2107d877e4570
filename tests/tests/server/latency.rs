//! Latency of a client next to 5,000 unfinished requests of each kind. The test measures time, so it is ignored in the gate:
//!
//! ```text
//! ulimit -n 20000; cargo test -p tests --test server latency -- --ignored --nocapture --test-threads 1
//! ```

use std::collections::VecDeque;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tests::ask::Ask;

use crate::SERVER;
use crate::neighbours::{KINDS, streams};

/// The number of open connections of each kind.
const NEIGHBOURS: usize = 5_000;
/// The number of open HTTP/2 connections, with 256 streams each.
const MULTIPLEXED: usize = 64;
/// Requests in each measurement, each over a new connection.
const REQUESTS: usize = 1_000;
/// The number of measurements of each kind, of which the median counts.
const ROUNDS: usize = 3;
/// The maximum ratio of the 99th percentile with and without neighbours.
const TIMES: f64 = 3.0;

/// Returns the 99th percentile of the client's latency.
fn slow() -> Duration {
    let mut taken: Vec<Duration> = (0..REQUESTS)
        .map(|_| {
            let begun = Instant::now();
            assert_eq!(Ask::new("GET", "Latency(PartitionKey='p',RowKey='r')").of(&SERVER).status, 200);
            begun.elapsed()
        })
        .collect();
    taken.sort_unstable();
    taken[REQUESTS * 99 / 100]
}

/// A guard that sets a flag when it is dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the median of [`slow`] next to `number` connections. One of them is replaced every 10 ms.
fn next_to(number: usize, sent: &[u8]) -> Duration {
    let host = SERVER.split("TableEndpoint=http://").nth(1).unwrap().split('/').next().unwrap();
    let connect = || {
        let mut stream = TcpStream::connect(host).expect("the file descriptors suffice");
        // The server may have closed the connection already.
        let _ = stream.write_all(sent);
        stream
    };
    let ended = AtomicBool::new(false);
    let mut open: VecDeque<TcpStream> = (0..number).map(|_| connect()).collect();
    let mut found = thread::scope(|scope| {
        // Ends the thread even if the client panics.
        let _end = End(&ended);
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                open.pop_front();
                open.extend((number > 0).then(connect));
                thread::sleep(Duration::from_millis(10));
            }
        });
        [(); ROUNDS].map(|()| slow())
    });
    found.sort_unstable();
    found[ROUNDS / 2]
}

#[test]
#[ignore = "measures latencies on a quiet machine"]
fn the_slowest_percent_of_a_client_takes_at_most_three_times_as_long() {
    let table = Ask::new("POST", "Tables").json("{\"TableName\":\"Latency\"}").of(&SERVER);
    let entity = Ask::new("POST", "Latency").json("{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}").of(&SERVER);
    assert_eq!((table.status, entity.status), (201, 201));
    let unfinished = KINDS.iter().map(|(kind, sent)| (*kind, NEIGHBOURS, sent.as_bytes().to_vec()));
    let mut slower = Vec::new();
    for (kind, number, sent) in unfinished.chain([("256 streams of HTTP/2 each", MULTIPLEXED, streams(256))])
    {
        let (alone, next) = (next_to(0, &[]), next_to(number, &sent));
        let times = next.as_secs_f64() / alone.as_secs_f64();
        println!("{number} connections, {kind}: p99 {next:?}, {alone:?} without them, {times:.2} times");
        if times > TIMES {
            slower.push((kind, times));
        }
    }
    assert_eq!(slower, [], "the client notices its neighbours");
}
