//! Measures the latency of a well-behaved client while many hostile connections are open. These connections never send a request with a valid signature.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
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

/// The number of hostile connections of each kind that sends little and then waits.
const NEIGHBOURS: usize = 1_000;
/// The number of connections used by the well-behaved client.
const CONNECTIONS: usize = 8;
/// The highest acceptable ratio of the 99th-percentile latency with hostile connections to the latency without them.
const TIMES: f64 = 3.0;
/// The number of hostile connections of each kind that sends continuously.
const FLOODS: usize = 20;
/// The number of messages in each write of a connection that sends continuously.
const REPEATED: usize = 200;
/// The HTTP/2 connection preface, followed by an empty `SETTINGS` frame.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// The number of streams per HTTP/2 connection. It equals the server's limit.
const STREAMS: u32 = 256;

/// Measures the latency for each kind of hostile connection, and adds the ratios to the report.
///
/// Unsigned requests with a body show that the server verifies the signature before it admits the request and reads its body. Connections that send without
/// pause show that work before authentication is rate-limited.
pub fn measure(options: &Options, report: &mut Report) -> Outcome<()> {
    let server = Server::start(child::SERVE)?;
    let (place, shape) = (Place::new(&server.line)?, &Shape::ALL[0]);
    data::fill(&place, shape)?;
    let slow = || -> Outcome<u32> {
        let done = worker::ask(Work::Get, (&place, false), shape, CONNECTIONS, options.time)?;
        Ok(Done::quantile(&done.micros, 990))
    };
    for kind in kinds(&format!("{}/{}", place.account_path, shape.table)) {
        let (mut alone, mut next) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds {
            alone.push(slow()?);
            let neighbours = Neighbours::open(&place.tables, &kind)?;
            next.push(slow()?);
            drop(neighbours);
        }
        let (alone, next) = (median(alone), median(next));
        report.line(
            &format!("p99 of point gets next to {} connections: {}", kind.number, kind.title),
            format!("{next} µs"),
            format!("{alone} µs without them"),
            f64::from(next) / f64::from(alone.max(1)),
            kind.target,
        );
    }
    Ok(())
}

/// A kind of hostile connection, defined by the data it sends.
#[derive(Clone, Debug)]
struct Kind {
    title: &'static str,
    number: usize,
    /// The bytes sent when a connection opens.
    first: Vec<u8>,
    /// The bytes then sent repeatedly. If the list is empty, one connection is closed and reopened after each pause.
    repeated: Vec<u8>,
    /// The pause between two writes, or between two reopened connections.
    pause: Duration,
    target: Target,
}

fn kinds(target: &str) -> [Kind; 7] {
    let silent = |title, first: &str| Kind {
        title,
        number: NEIGHBOURS,
        first: first.as_bytes().to_vec(),
        repeated: Vec::new(),
        pause: Duration::from_millis(1),
        target: Target::AtMost(TIMES),
    };
    // A PING frame with eight bytes.
    let ping = [&[0, 0, 8, 6, 0, 0, 0, 0, 0][..], &[0; 8]].concat();
    let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
    [
        silent("silent", ""),
        silent("half a head", &format!("GET {target} HTTP/1.1\r\nHost: a\r\nX-A")),
        silent(
            "an unsigned body",
            &format!("POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n{{"),
        ),
        Kind { number: FLOODS, first: streams(target), ..silent("256 streams of HTTP/2 each", "") },
        Kind {
            number: FLOODS,
            first: PREFACE.to_vec(),
            repeated: ping.repeat(REPEATED),
            ..silent("pings of HTTP/2", "")
        },
        Kind {
            number: FLOODS,
            repeated: request.repeat(REPEATED).into_bytes(),
            ..silent("unsigned requests", "")
        },
        Kind {
            number: FLOODS,
            pause: Duration::ZERO,
            // On two cores, two things delay the client of any server: the kernel's cost of a connection, and the thread that opens connections without pause.
            // docs/server.md compares the server with a program that only accepts and closes connections.
            target: Target::Shown,
            ..silent("unsigned requests, each over a new connection", &request)
        },
    ]
}

fn median(mut micros: Vec<u32>) -> u32 {
    micros.sort_unstable();
    micros.get(micros.len() / 2).copied().unwrap_or(0)
}

/// Hostile connections, which remain open until this value is dropped.
struct Neighbours {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Neighbours {
    fn open(address: &str, kind: &Kind) -> Outcome<Self> {
        let (address, Kind { number, first, repeated, pause, .. }) = (address.to_owned(), kind.clone());
        let connect = move || Hostile::connect(&address, &first);
        let mut open = (0..number).map(|_| connect()).collect::<std::io::Result<VecDeque<_>>>()?;
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let thread = thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                if repeated.is_empty() {
                    open.pop_front();
                    open.extend(connect());
                }
                for connection in open.iter_mut().filter(|_| !repeated.is_empty()) {
                    if !connection.send(&repeated)
                        && let Ok(next) = connect()
                    {
                        *connection = next;
                    }
                }
                thread::sleep(pause);
            }
        });
        Ok(Self { ended, thread: Some(thread) })
    }
}

/// A hostile connection and its progress.
struct Hostile {
    stream: TcpStream,
    /// The number of bytes of `repeated` already sent in the current repetition.
    sent: usize,
}

impl Hostile {
    fn connect(address: &str, first: &[u8]) -> std::io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        // The server may already have closed the connection, so an error is ignored.
        let _ = stream.write_all(first);
        stream.set_nonblocking(true)?;
        Ok(Self { stream, sent: 0 })
    }

    /// Sends as many bytes as the connection accepts and discards the responses. Returns `false` if the server has closed the connection.
    fn send(&mut self, repeated: &[u8]) -> bool {
        let waits = |error: &std::io::Error| error.kind() == ErrorKind::WouldBlock;
        let read = self.stream.read(&mut [0; 8 << 10]);
        let written = self.stream.write(&repeated[self.sent..]);
        self.sent = written.as_ref().map_or(self.sent, |written| (self.sent + written) % repeated.len());
        !matches!(read, Ok(0))
            && read.as_ref().err().is_none_or(waits)
            && written.as_ref().err().is_none_or(waits)
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // The thread never panics, so the result of the join is ignored.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Returns the bytes of an HTTP/2 connection: the preface and an empty `SETTINGS` frame. For each stream, the headers of an unsigned request follow, without
/// its body.
fn streams(target: &str) -> Vec<u8> {
    let mut bytes = PREFACE.to_vec();
    // The encoded headers are `:method: POST` and `:scheme: http`, followed by the literals `:path` and `:authority: a` (RFC 7541). Each length fits into a
    // byte.
    let mut head = vec![0x83, 0x86, 0x04, u8::try_from(target.len()).unwrap_or(0)];
    head.extend_from_slice(target.as_bytes());
    head.extend_from_slice(&[0x01, 1, b'a']);
    for stream in (0..STREAMS).map(|index| 2 * index + 1) {
        // A HEADERS frame with the flag END_HEADERS but without END_STREAM.
        bytes.extend_from_slice(&[0, 0, u8::try_from(head.len()).unwrap_or(0), 0x01, 0x04]);
        bytes.extend_from_slice(&stream.to_be_bytes());
        bytes.extend_from_slice(&head);
    }
    bytes
}
