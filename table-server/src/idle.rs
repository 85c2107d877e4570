//! Detects idle connections.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that counts the reads and writes that transfer bytes, so a single timer can detect an idle connection. A timer for each read and write would cost
/// more than the operation itself.
#[derive(Debug)]
pub(crate) struct Moving<S> {
    stream: S,
    moves: Arc<AtomicU64>,
}

/// Wraps a stream. The returned future completes after a period of one to two times `idle` in which no byte is transferred.
pub(crate) fn watched<S>(stream: S, idle: Duration) -> (Moving<S>, impl Future<Output = ()>) {
    let moves = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&moves);
    let still = async move {
        // This value differs from the initial count.
        let mut last = u64::MAX;
        loop {
            let now = seen.load(Ordering::Relaxed);
            if now == last {
                return;
            }
            last = now;
            tokio::time::sleep(idle).await;
        }
    };
    (Moving { stream, moves }, still)
}

impl<S> Moving<S> {
    fn note(&self, moved: bool) {
        if moved {
            self.moves.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn wrote(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.note(matches!(written, Poll::Ready(Ok(1..))));
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Moving<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut own.stream).poll_read(context, buffer);
        own.note(buffer.filled().len() > before);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Moving<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let written = Pin::new(&mut own.stream).poll_write(context, bytes);
        own.wrote(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let written = Pin::new(&mut own.stream).poll_write_vectored(context, slices);
        own.wrote(written)
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
