//! The HTTP server: a listener and its connections.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::time::MissedTickBehavior;

use crate::explorer::Explorer;
use crate::growth;
use crate::response::{self, Body};

/// The maximum size of a submitted form, in bytes, larger than any entity.
const FORM: usize = 8 << 20;

/// A server for one explorer, already bound to a port.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    explorer: Explorer,
}

impl Server {
    /// Binds the server to an address. Use a loopback address: any program that can reach the server and knows the token can read the store.
    ///
    /// # Errors
    /// Any error from the operating system, for example if the port is in use.
    pub async fn bind(address: SocketAddr, explorer: Explorer) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, explorer })
    }

    /// Returns the explorer, which handles the requests.
    #[must_use]
    pub const fn explorer(&self) -> &Explorer {
        &self.explorer
    }

    /// Returns the bound address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL that starts the session. It contains a single-use token.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.explorer.first_path())
    }

    /// Serves requests until `end` completes, then waits at most one second for open requests. Store and table sizes are sampled once a minute.
    pub async fn serve_until(self, end: impl Future<Output = ()>) {
        let explorer = self.explorer.clone();
        let sampling = async {
            let mut moments = tokio::time::interval(growth::INTERVAL);
            moments.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                moments.tick().await;
                explorer.sample().await;
            }
        };
        tokio::select! {
            () = self.answer_until(end) => {}
            () = sampling => {}
        }
    }

    async fn answer_until(self, end: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let builder = Builder::new(TokioExecutor::new());
        let mut end = std::pin::pin!(end);
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = &mut end => break,
            };
            let Ok((stream, _)) = accepted else {
                // The process has usually run out of file descriptors; one becomes free when a connection ends.
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                continue;
            };
            let (explorer, host) = (self.explorer.clone(), self.address.to_string());
            let service = service_fn(move |request| answer(explorer.clone(), host.clone(), request));
            let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
            let watched = graceful.watch(connection);
            // A broken connection affects only its client.
            tokio::spawn(async move { drop(watched.await) });
        }
        drop(self.listener);
        let _ = tokio::time::timeout(std::time::Duration::from_secs(1), graceful.shutdown()).await;
    }
}

async fn answer(
    explorer: Explorer,
    host: String,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let (parts, body) = request.into_parts();
    let Some(body) = form(body, FORM).await else {
        let text = "the form is too large, or was not sent completely";
        return Ok(response::whole(StatusCode::PAYLOAD_TOO_LARGE, "text/plain; charset=utf-8", text));
    };
    Ok(explorer.handle(Request::from_parts(parts, body), &host).await)
}

/// Reads a submitted form. Returns `None` if it is larger than `most` bytes or incomplete.
///
/// Each frame's bytes are copied and the frame is dropped, because a one-byte frame takes over thirty times its size in memory.
async fn form(mut body: impl hyper::body::Body<Data = Bytes> + Unpin, most: usize) -> Option<Bytes> {
    let mut form = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.ok()?;
        let Some(data) = frame.data_ref() else { continue };
        if data.len() > most.saturating_sub(form.len()) {
            return None;
        }
        form.extend_from_slice(data);
    }
    Some(form.into())
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use http::HeaderMap;
    use hyper::body::Frame;

    use super::*;

    /// A form of one-byte frames, followed by trailers or an error.
    struct Letters {
        frames: usize,
        is_broken: bool,
        /// The number of references is the number of frames in memory, plus one.
        alive: Arc<()>,
    }

    struct Letter(#[expect(dead_code, reason = "counted")] Arc<()>);

    impl AsRef<[u8]> for Letter {
        fn as_ref(&self) -> &[u8] {
            b"x"
        }
    }

    impl hyper::body::Body for Letters {
        type Data = Bytes;
        type Error = &'static str;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            assert!(Arc::strong_count(&self.alive) == 1, "an earlier frame is still in memory");
            let last = if self.is_broken { Err("broken") } else { Ok(Frame::trailers(HeaderMap::new())) };
            let letter = Letter(Arc::clone(&self.alive));
            let Some(left) = self.frames.checked_sub(1) else { return Poll::Ready(None) };
            self.frames = left;
            Poll::Ready(Some(if left == 0 { last } else { Ok(Frame::data(Bytes::from_owner(letter))) }))
        }
    }

    #[tokio::test]
    async fn a_form_is_bounded_and_complete_and_takes_no_more_memory_if_its_frames_are_small() {
        for (letters, is_broken, expected) in [
            (0, false, Some(0)),
            (1, false, Some(1)),
            (1_000, false, Some(1_000)),
            (1_001, false, None),
            (5_000, false, None),
            (1_000, true, None),
        ] {
            let body = Letters { frames: letters + 1, is_broken, alive: Arc::default() };
            assert_eq!(form(body, 1_000).await.map(|form| form.len()), expected, "{letters}");
        }
    }
}
