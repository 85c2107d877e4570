//! Polls a connection briefly for its next request before its thread sleeps.

use std::io::{self, ErrorKind, IoSlice, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::open::OpenConnections;

/// The maximum duration of polling after a response. A thread takes about as long to sleep and wake up, so polling costs at most twice the time it can save.
const LINGER: Duration = Duration::from_micros(30);
/// The maximum number of bytes read by a poll. The rest of a longer request is read normally.
const CHUNK: usize = 8 << 10;

/// A connection's stream. After a response, it briefly polls for the next request if no other connection is open. This way, a client that sends requests
/// sequentially need not wait for a thread to wake up, which takes longer than handling a request.
#[derive(Debug)]
pub(crate) struct Lingering {
    stream: TcpStream,
    open: OpenConnections,
    /// `true` if a response was sent after the last read.
    has_answered: bool,
    /// The buffer for polled bytes; empty until the first poll. It is initialised only once, not for each poll.
    polled: Vec<u8>,
}

impl Lingering {
    pub(crate) const fn new(stream: TcpStream, open: OpenConnections) -> Self {
        Self { stream, open, has_answered: false, polled: Vec::new() }
    }

    /// Reads bytes that arrive within [`LINGER`]. The read bypasses the runtime, which polls its sockets only before it sleeps.
    fn look(&mut self, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let socket = SockRef::from(&self.stream);
        self.polled.resize(CHUNK, 0);
        let most = buffer.remaining().min(CHUNK);
        let begun = Instant::now();
        loop {
            match (&*socket).read(&mut self.polled[..most]) {
                Ok(read) => {
                    buffer.put_slice(&self.polled[..read]);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if begun.elapsed() >= LINGER {
                        return Poll::Pending;
                    }
                    std::hint::spin_loop();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncRead for Lingering {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let has_answered = std::mem::take(&mut own.has_answered);
        match Pin::new(&mut own.stream).poll_read(context, buffer) {
            // If no bytes arrive during polling, the runtime wakes the connection later.
            Poll::Pending if has_answered && own.open.count() == 1 => own.look(buffer),
            read => read,
        }
    }
}

impl AsyncWrite for Lingering {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        own.has_answered = true;
        Pin::new(&mut own.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        own.has_answered = true;
        Pin::new(&mut own.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::task::Waker;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Reads the bytes that a client has sent, without yielding to the runtime.
    fn read_at_once(stream: &mut Lingering) -> Poll<Vec<u8>> {
        let mut bytes = [0; 16];
        let mut buffer = ReadBuf::new(&mut bytes);
        let read = Pin::new(stream).poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer);
        read.map(|read| {
            read.unwrap();
            buffer.filled().to_vec()
        })
    }

    #[tokio::test]
    async fn an_answered_lone_client_is_polled_before_the_connection_sleeps() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let connections = OpenConnections::default();
        let _own = connections.open();
        let mut stream = Lingering::new(stream, connections.clone());

        stream.write_all(b"answer").await.unwrap();
        client.write_all(b"next").unwrap();
        assert_eq!(read_at_once(&mut stream), Poll::Ready(b"next".to_vec()));
        assert_eq!(read_at_once(&mut stream), Poll::Pending, "nothing was answered since");

        stream.write_all(b"answer").await.unwrap();
        let other = connections.open();
        client.write_all(b"third").unwrap();
        assert_eq!(
            read_at_once(&mut stream),
            Poll::Pending,
            "another connection may have work for the thread"
        );
        let mut third = [0; 5];
        stream.read_exact(&mut third).await.unwrap();
        assert_eq!(&third, b"third");
        drop(other);

        stream.write_all(b"answer").await.unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(read_at_once(&mut stream), Poll::Ready(Vec::new()), "the end of the stream");
    }
}
