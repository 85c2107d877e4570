//! A client connection that puts load on a server. It prepares and sends requests and reads responses in reused buffers.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use table_wire::auth::{AccountKey, Scheme};

use crate::Outcome;
use crate::served::request::{Sent, Writer};

/// The way a connection waits for a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The connection sleeps until the operating system wakes it.
    Asleep,
    /// The connection polls, so wake-up time is not measured. Only one connection at a time can wait this way.
    Awake,
}

/// The maximum number of bytes read at once.
const CHUNK: usize = 64 << 10;

/// An open connection to a server.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    writer: Writer,
    read: Vec<u8>,
    /// The number of received bytes in `read`.
    filled: usize,
}

impl Connection {
    /// Connects to a server. `scheme` is the signature scheme of the target service.
    pub fn open(address: &str, key: &AccountKey, scheme: Scheme, wait: Wait) -> Outcome<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(wait == Wait::Awake)?;
        Ok(Self { stream, writer: Writer::new(address, key, scheme), read: vec![0; CHUNK], filled: 0 })
    }

    /// Signs and encodes the next request.
    pub fn prepare(&mut self, sent: &Sent<'_>) -> Outcome<()> {
        self.writer.write(sent)
    }

    /// Sends the prepared request.
    pub fn send(&mut self) -> Outcome<()> {
        let mut rest = self.writer.written();
        while !rest.is_empty() {
            let written = again(|| self.stream.write(rest))?;
            rest = rest.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    /// Sends a request and waits for the response. Returns the status and the body of the response.
    pub fn exchange(&mut self, sent: &Sent<'_>) -> Outcome<(u16, &[u8])> {
        self.prepare(sent)?;
        self.send()?;
        self.answer()
    }

    /// Reads the response to the last request. Returns the status and the body of the response.
    pub fn answer(&mut self) -> Outcome<(u16, &[u8])> {
        self.filled = 0;
        let end = self.past(0, b"\r\n\r\n")?;
        let head = std::str::from_utf8(self.read.get(..end).unwrap_or_default())?;
        let mut lines = head.split("\r\n");
        let status: u16 = lines.next().and_then(|line| line.get(9..12)).unwrap_or_default().parse()?;
        let (mut length, mut is_chunked) = (0, false);
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse()?;
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                is_chunked = value.eq_ignore_ascii_case("chunked");
            }
        }
        let body_end = if is_chunked {
            self.chunks(end)?
        } else {
            self.read_to(end + length)?;
            end + length
        };
        Ok((status, self.read.get(end..body_end).unwrap_or_default()))
    }

    /// Reads all chunks of a body and joins them at offset `start`. Returns the end of the joined data.
    fn chunks(&mut self, start: usize) -> Outcome<usize> {
        let (mut at, mut end) = (start, start);
        loop {
            let from = self.past(at, b"\r\n")?;
            let digits = std::str::from_utf8(self.read.get(at..from).unwrap_or_default())?;
            let size = usize::from_str_radix(digits.trim(), 16)?;
            self.read_to(from + size + 2)?;
            if size == 0 {
                return Ok(end);
            }
            self.read.copy_within(from..from + size, end);
            (at, end) = (from + size + 2, end + size);
        }
    }

    /// Reads until `mark` occurs after `start`. Returns the offset of the byte that follows `mark`.
    fn past(&mut self, start: usize, mark: &[u8]) -> Outcome<usize> {
        let mut from = start;
        loop {
            let text = self.read.get(from..self.filled).unwrap_or_default();
            if let Some(at) = text.windows(mark.len()).position(|window| window == mark) {
                return Ok(from + at + mark.len());
            }
            from = (self.filled + 1).saturating_sub(mark.len()).max(start);
            self.more()?;
        }
    }

    fn read_to(&mut self, end: usize) -> Outcome<()> {
        while self.filled < end {
            self.more()?;
        }
        Ok(())
    }

    fn more(&mut self) -> Outcome<()> {
        if self.read.len() < self.filled + CHUNK {
            self.read.resize(self.filled + 2 * CHUNK, 0);
        }
        let free = self.read.get_mut(self.filled..).unwrap_or_default();
        let read = again(|| self.stream.read(free))?;
        self.filled += read;
        if read == 0 { Err("the server closed the connection".into()) } else { Ok(()) }
    }
}

/// Repeats a system call until it no longer fails with `WouldBlock`.
fn again(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::hint::spin_loop(),
            done => return done,
        }
    }
}
