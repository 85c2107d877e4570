//! Responses not yet read by clients. Their total size is limited, because a client can send requests without reading the responses.
//!
//! Beyond the limit, the server closes connections instead of rejecting requests, because a client that does not read its responses must not block other
//! clients.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::Notify;

use crate::unverified::network;

/// The maximum size of an uncounted body, in bytes. Most bodies are smaller, and counting a body requires a lock.
const UNCOUNTED: usize = 1 << 10;
/// The maximum number of bytes a connection copies from a body at a time.
const CHUNK: usize = 256 << 10;

/// The responses not yet completely sent, and the limit on their total size.
#[derive(Debug)]
pub(crate) struct UnreadResponses {
    limit: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    bytes: usize,
    next: u64,
    /// The unread responses to each client network.
    networks: HashMap<IpAddr, Network>,
}

#[derive(Debug, Default)]
struct Network {
    bytes: usize,
    /// The responses, oldest first. Each has a size, and a signal that closes its connection.
    responses: BTreeMap<u64, (usize, Arc<Notify>)>,
}

impl UnreadResponses {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, waiting: Mutex::default() })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a body of more than [`UNCOUNTED`] bytes toward the total size until it is sent. If the total size would exceed the limit, other connections are
    /// closed first: the ones with the oldest unread responses in the network with the most unread bytes. `eviction` is the signal that closes this response's
    /// connection.
    pub(crate) fn count(
        self: &Arc<Self>,
        body: String,
        address: IpAddr,
        eviction: &Arc<Notify>,
    ) -> ResponseBody {
        if body.len() <= UNCOUNTED {
            return ResponseBody(body.into());
        }
        let network = network(address);
        let number = self.waiting().add(network, body.len(), eviction, self.limit);
        let responses = Arc::clone(self);
        ResponseBody(Bytes::from_owner(Counted { body, responses, network, number }))
    }
}

impl Waiting {
    fn add(&mut self, network: IpAddr, bytes: usize, eviction: &Arc<Notify>, limit: usize) -> u64 {
        while self.bytes + bytes > limit && self.evict() {}
        let number = self.next;
        self.next += 1;
        self.bytes += bytes;
        let own = self.networks.entry(network).or_default();
        own.bytes += bytes;
        own.responses.insert(number, (bytes, Arc::clone(eviction)));
        number
    }

    /// Closes the connection with the oldest response in the network with the most unread bytes. Returns `false` if no response is waiting.
    fn evict(&mut self) -> bool {
        let most = self.networks.iter().max_by_key(|(_, own)| own.bytes);
        let oldest = most.and_then(|(network, own)| Some((*network, *own.responses.keys().next()?)));
        let Some((network, number)) = oldest else { return false };
        if let Some(eviction) = self.remove(network, number) {
            eviction.notify_one();
        }
        true
    }

    fn remove(&mut self, network: IpAddr, number: u64) -> Option<Arc<Notify>> {
        let own = self.networks.get_mut(&network)?;
        let (bytes, eviction) = own.responses.remove(&number)?;
        own.bytes -= bytes;
        self.bytes -= bytes;
        if own.responses.is_empty() {
            self.networks.remove(&network);
        }
        Some(eviction)
    }
}

/// A response body that counts toward the total size of unread responses until its last byte has been copied to the connection.
struct Counted {
    body: String,
    responses: Arc<UnreadResponses>,
    network: IpAddr,
    number: u64,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        self.body.as_bytes()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.responses.waiting().remove(self.network, self.number);
    }
}

/// The body of a response. It is sent in chunks, so a connection holds at most one chunk in addition to the body.
#[derive(Debug)]
pub(crate) struct ResponseBody(Bytes);

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let rest = &mut self.get_mut().0;
        let chunk = rest.split_to(rest.len().min(CHUNK));
        Poll::Ready((!chunk.is_empty()).then(|| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    async fn is_evicted(eviction: &Notify) -> bool {
        tokio::select! {
            biased;
            () = eviction.notified() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn the_oldest_response_of_the_network_with_most_unread_bytes_is_evicted() {
        let responses = UnreadResponses::new(10_000);
        let count = |bytes: usize, last: u8| {
            let eviction = Arc::new(Notify::new());
            (responses.count("x".repeat(bytes), address(last), &eviction), eviction)
        };
        let reader = count(3_000, 1);
        let silent = [count(2_000, 2), count(2_000, 2), count(2_000, 2)];
        let next = count(2_000, 3);
        assert!(is_evicted(&silent[0].1).await);
        for (_, eviction) in [&reader, &silent[1], &silent[2], &next] {
            assert!(!is_evicted(eviction).await);
        }
        assert_eq!(responses.waiting().bytes, 9_000);
        drop((reader, silent, next));
        assert_eq!(responses.waiting().bytes, 0);
        assert!(responses.waiting().networks.is_empty());
    }

    #[tokio::test]
    async fn a_body_is_counted_until_its_last_chunk_is_dropped() {
        use http_body_util::BodyExt;

        let responses = UnreadResponses::new(1 << 20);
        let bytes = 2 * CHUNK + 1;
        let mut body = responses.count("x".repeat(bytes), address(1), &Arc::default());
        assert_eq!(body.size_hint().exact(), Some(bytes as u64));
        let mut chunks = Vec::new();
        while let Some(Ok(frame)) = body.frame().await {
            chunks.push(frame.into_data().unwrap());
        }
        drop(body);
        assert_eq!(chunks.iter().map(Bytes::len).collect::<Vec<_>>(), [CHUNK, CHUNK, 1]);
        chunks.truncate(1);
        assert_eq!(responses.waiting().bytes, bytes);
        drop(chunks);
        assert_eq!(responses.waiting().bytes, 0);
        let small = responses.count("x".repeat(UNCOUNTED), address(1), &Arc::default());
        assert!(responses.waiting().networks.is_empty() && !small.is_end_stream());
    }

    #[tokio::test]
    async fn a_response_larger_than_the_limit_is_sent() {
        let responses = UnreadResponses::new(2_000);
        let eviction = Arc::new(Notify::new());
        let large = responses.count("x".repeat(3_000), address(1), &eviction);
        assert!(!is_evicted(&eviction).await);
        let other = responses.count("x".repeat(1_500), address(1), &Arc::default());
        assert!(is_evicted(&eviction).await);
        drop((large, other));
        assert_eq!(responses.waiting().bytes, 0);
    }
}
