//! Latency of a client next to connections that never send a verified request.

use std::collections::VecDeque;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::Outcome;
use crate::options::Options;
use crate::report::{Report, Target};
use crate::served::child::{self, Server};
use crate::served::data::{self, Shape};
use crate::served::load::Done;
use crate::served::work::{Place, Work};
use crate::served::worker;

/// The number of open connections of one kind.
const NEIGHBOURS: usize = 1_000;
/// The number of connections of the client.
const CONNECTIONS: usize = 8;
/// The maximum ratio of the 99th percentile latencies with and without neighbours.
const TIMES: f64 = 3.0;
/// The number of streams of one HTTP/2 connection: the server's maximum.
const STREAMS: u32 = 256;

/// Measures the rows. The neighbours with an unsigned body show that the server verifies a signature before it admits the request and reads its body.
pub fn measure(options: &Options, report: &mut Report) -> Outcome<()> {
    let server = Server::start(child::SERVE)?;
    let (place, shape) = (Place::new(&server.line)?, &Shape::ALL[0]);
    data::fill(&place, shape)?;
    let slow = || -> Outcome<u32> {
        let done = worker::ask(Work::Get, (&place, false), shape, CONNECTIONS, options.time)?;
        Ok(Done::quantile(&done.micros, 990))
    };
    let target = format!("{}/{}", place.account_path, shape.table);
    let kinds = [
        ("silent", NEIGHBOURS, Vec::new()),
        ("half a head", NEIGHBOURS, format!("GET {target} HTTP/1.1\r\nHost: a\r\nX-A").into_bytes()),
        (
            "an unsigned body",
            NEIGHBOURS,
            format!("POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n{{").into_bytes(),
        ),
        ("256 streams of HTTP/2 each", NEIGHBOURS / 50, streams(&target)),
    ];
    for (kind, number, sent) in kinds {
        let (mut alone, mut next) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds {
            alone.push(slow()?);
            let neighbours = Neighbours::open(&place.tables, number, sent.clone())?;
            next.push(slow()?);
            drop(neighbours);
        }
        let (alone, next) = (median(alone), median(next));
        report.line(
            &format!("p99 of point gets next to {number} connections: {kind}"),
            format!("{next} µs"),
            format!("{alone} µs without them"),
            f64::from(next) / f64::from(alone.max(1)),
            Target::AtMost(TIMES),
        );
    }
    Ok(())
}

fn median(mut micros: Vec<u32>) -> u32 {
    micros.sort_unstable();
    micros.get(micros.len() / 2).copied().unwrap_or(0)
}

/// The hostile connections, which stay open until the value is dropped. One of them is replaced every millisecond.
struct Neighbours {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Neighbours {
    fn open(address: &str, number: usize, sent: Vec<u8>) -> Outcome<Self> {
        let address = address.to_owned();
        let connect = move || -> std::io::Result<TcpStream> {
            let mut stream = TcpStream::connect(&address)?;
            // The server may have closed the connection already.
            let _ = stream.write_all(&sent);
            Ok(stream)
        };
        let mut open = (0..number).map(|_| connect()).collect::<std::io::Result<VecDeque<_>>>()?;
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let thread = thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                open.pop_front();
                open.extend(connect());
                thread::sleep(Duration::from_millis(1));
            }
        });
        Ok(Self { ended, thread: Some(thread) })
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // The thread does not panic, so the result of the join is ignored.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Returns the bytes of an HTTP/2 connection: the preface, empty settings, then for each stream the headers of an unsigned request without its body.
fn streams(target: &str) -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    // The encoded headers are `:method: POST`, `:scheme: http`, and as literals `:path` and `:authority: a` (RFC 7541). The lengths fit in a byte.
    let mut head = vec![0x83, 0x86, 0x04, u8::try_from(target.len()).unwrap_or(0)];
    head.extend_from_slice(target.as_bytes());
    head.extend_from_slice(&[0x01, 1, b'a']);
    for stream in (0..STREAMS).map(|index| 2 * index + 1) {
        // A HEADERS frame with END_HEADERS, without END_STREAM.
        bytes.extend_from_slice(&[0, 0, u8::try_from(head.len()).unwrap_or(0), 0x01, 0x04]);
        bytes.extend_from_slice(&stream.to_be_bytes());
        bytes.extend_from_slice(&head);
    }
    bytes
}
