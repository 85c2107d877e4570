//! Limits the work caused by unauthenticated connections. Each connection can read only a few bytes per turn, and the overall rate of turns is limited.
//!
//! An unauthenticated client can send anything that HTTP allows: requests without a signature, pings, settings, empty frames. Instead of counting each kind of
//! message, the server limits the rate of reads. Examining a request also counts as work, measured by its duration: it can take far longer than reading the
//! request's bytes, because HTTP/2 compresses heads. After its first authenticated request, a connection no longer takes turns.

use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::unverified::Guest;

/// The maximum number of bytes that an unauthenticated connection reads in one turn.
const BYTES: usize = 512;
/// The cost of one read, in units of work.
const READ: u32 = 1;
/// The cost of one rejected request, in units of work, in addition to its examination time.
const REQUEST: u32 = 2;
/// The examination time that counts as one unit of work. At 10,000 units per second, examining rejected requests takes at most a fifth of one thread's time.
const UNIT: Duration = Duration::from_micros(20);
/// The maximum number of units charged for examining one request. If an examination appears to take longer than this, the thread or the machine must have been
/// suspended during the examination.
const EXAMINED: u32 = 1_000;
/// The number of units of work that each connection may do for free. They suffice for a handshake and a request's head, so a client need not wait for other
/// clients at its address.
const FREE: u32 = 12;

/// Charges a rejected request and its examination time. The time is measured because no fixed cost suits all requests: it depends on the length of the head,
/// the number of parameters, and the kind of credential.
pub(crate) fn refused(guest: &Guest, took: Duration) {
    let units = u32::try_from(took.as_micros() / UNIT.as_micros()).unwrap_or(EXAMINED);
    guest.work(REQUEST + units.min(EXAMINED));
}

/// Runs a connection. Until its first authenticated request, the connection runs in turns. Drops `admission` after the first turn.
pub(crate) async fn in_turns<A>(guest: &Guest, admission: A, connection: impl Future<Output = ()>) {
    let mut connection = pin!(connection);
    let mut pause = pin!(tokio::time::sleep(Duration::ZERO));
    let (mut is_paused, mut free, mut admission) = (false, FREE, Some(admission));
    std::future::poll_fn(|context| {
        if guest.is_verified() {
            return connection.as_mut().poll(context);
        }
        if is_paused {
            ready!(pause.as_mut().poll(context));
            is_paused = false;
        }
        guest.begin_turn();
        let polled = connection.as_mut().poll(context);
        drop(admission.take());
        if polled.is_ready() || guest.is_verified() {
            return polled;
        }
        let work = guest.take_work();
        let charged = work.saturating_sub(free);
        free = free.saturating_sub(work);
        if charged > 0
            && let Some(end) = guest.charge(charged)
        {
            is_paused = true;
            pause.as_mut().reset(end.into());
            // This poll ensures that the task is woken at the end of the pause.
            if pause.as_mut().poll(context).is_ready() {
                context.waker().wake_by_ref();
            }
        }
        Poll::Pending
    })
    .await;
}

/// A stream that lets an unauthenticated connection read only a few bytes per turn.
#[derive(Debug)]
pub(crate) struct TurnStream<S> {
    stream: S,
    guest: Arc<Guest>,
}

impl<S> TurnStream<S> {
    pub(crate) const fn new(stream: S, guest: Arc<Guest>) -> Self {
        Self { stream, guest }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TurnStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        if own.guest.is_verified() {
            return Pin::new(&mut own.stream).poll_read(context, buffer);
        }
        if !own.guest.may_read() {
            // The connection continues in its next turn, after all other ready tasks.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut bytes = [0; BYTES];
        let mut part = ReadBuf::new(&mut bytes[..buffer.remaining().min(BYTES)]);
        ready!(Pin::new(&mut own.stream).poll_read(context, &mut part))?;
        buffer.put_slice(part.filled());
        own.guest.work(READ);
        own.guest.end_reads();
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TurnStream<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices)
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
    use std::cell::Cell;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;
    use crate::unverified::Guests;

    const WATCHED: Duration = Duration::from_millis(500);

    /// Runs a connection that is always ready and does `units` units of work per poll. Returns the number of units done within `WATCHED`.
    async fn work(guest: &Guest, units: u32) -> u32 {
        let done = Cell::new(0);
        let busy = std::future::poll_fn(|context: &mut Context<'_>| {
            done.set(done.get() + units);
            guest.work(units);
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        let _ = tokio::time::timeout(WATCHED, in_turns(guest, (), busy)).await;
        done.get()
    }

    /// Tests that unauthenticated connections share one rate. The test runs in real time, because the rate does not follow a paused clock.
    #[tokio::test]
    async fn unverified_connections_share_a_rate() {
        let guests = Guests::new(8, 8);
        let [first, second] = [1, 1].map(|last| guests.enter([10, 0, 0, last].into()));
        let begun = Instant::now();
        let (first, second) = tokio::join!(work(&first, READ), work(&second, 40));
        let most = begun.elapsed().as_secs_f64() * 10_000.0 + f64::from(2 * (FREE + 40));
        assert!(f64::from(first + second) <= most, "{first} and {second}, at most {most}");
        assert!(first > FREE && second > 40, "{first} and {second}");
    }

    #[test]
    fn a_refused_request_costs_the_time_for_which_it_was_examined() {
        let guest = Guests::new(8, 8).enter([10, 0, 0, 1].into());
        for (took, units) in [
            (Duration::ZERO, 0),
            (Duration::from_nanos(19_999), 0),
            (Duration::from_micros(20), 1),
            (Duration::from_millis(5), 250),
            (Duration::from_secs(3_600), EXAMINED),
            (Duration::MAX, EXAMINED),
        ] {
            refused(&guest, took);
            assert_eq!(guest.take_work(), REQUEST + units, "{took:?}");
        }
    }

    #[tokio::test]
    async fn a_verified_connection_has_no_turns() {
        let guest = Guests::new(8, 8).enter([10, 0, 0, 1].into());
        let mut polls = 0;
        let connection = std::future::poll_fn(|context: &mut Context<'_>| {
            assert!(guest.verified());
            guest.work(u32::MAX);
            polls += 1;
            context.waker().wake_by_ref();
            if polls < 1_000 { Poll::Pending } else { Poll::Ready(()) }
        });
        // If the connection took turns, it would pause for a minute after each poll.
        tokio::time::timeout(WATCHED, in_turns(&guest, (), connection)).await.unwrap();
    }

    /// Tests that a connection trying to read twice in a turn is not woken until more bytes arrive.
    #[tokio::test]
    async fn a_silent_connection_is_not_woken() {
        let (_client, server) = tokio::io::duplex(64);
        let guest = Arc::new(Guests::new(8, 8).enter([10, 0, 0, 1].into()));
        let (mut stream, mut turns) = (TurnStream::new(server, Arc::clone(&guest)), 0);
        let connection = std::future::poll_fn(|context: &mut Context<'_>| {
            turns += 1;
            let mut bytes = [0; 8];
            for _ in 0..2 {
                assert!(Pin::new(&mut stream).poll_read(context, &mut ReadBuf::new(&mut bytes)).is_pending());
            }
            Poll::<()>::Pending
        });
        let silent = tokio::time::timeout(Duration::from_millis(20), in_turns(&guest, (), connection)).await;
        // The timeout causes the second turn.
        assert!(silent.is_err() && turns <= 2, "{turns}");
    }

    #[tokio::test]
    async fn an_unverified_connection_reads_a_few_bytes_in_a_turn() {
        let (mut client, server) = tokio::io::duplex(64 << 10);
        let guest = Arc::new(Guests::new(8, 8).enter([10, 0, 0, 1].into()));
        let mut stream = TurnStream::new(server, Arc::clone(&guest));
        client.write_all(&vec![7; 5 * BYTES]).await.unwrap();
        let mut bytes = vec![0; 16 * BYTES];
        guest.begin_turn();
        assert_eq!(stream.read(&mut bytes).await.unwrap(), BYTES);
        let mut next = std::pin::pin!(stream.read(&mut bytes));
        let waits = std::future::poll_fn(|context| Poll::Ready(next.as_mut().poll(context).is_pending()));
        assert!(waits.await, "the next bytes are read in the next turn");
        guest.begin_turn();
        assert_eq!(next.await.unwrap(), BYTES);
        assert!(guest.verified());
        assert_eq!(stream.read(&mut bytes).await.unwrap(), 3 * BYTES);
    }
}
