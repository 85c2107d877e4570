//! Accepts, limits, serves and closes connections.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use table_wire::sas::Caller;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::handle::handle;
use crate::idle;
use crate::linger::Lingering;
use crate::service::Service;
use crate::shared::Shared;
use crate::transport::Transport;
use crate::turn::{TurnStream, in_turns};
use crate::unverified::Guest;

/// The maximum number of accepted connections waiting for their first [turn](crate::turn). Further connections wait in the kernel's queue, so even during a
/// flood, each connection gets one turn before later connections can displace it.
const ADMISSIONS: usize = 32;

/// Accepts connections until `ending` changes, then waits for open connections to end, and closes the remaining ones after the grace period.
pub(crate) async fn accept(
    listener: TcpListener,
    service: Service,
    shared: Arc<Shared>,
    mut ending: watch::Receiver<()>,
) {
    let graceful = GracefulShutdown::new();
    // Each connection holds a receiver until it ends.
    let (close, _) = watch::channel(());
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // This timer also runs while a connection waits for its next request. A waiting connection must not be closed before the idle timeout, so this limit
        // includes the idle timeout.
        .header_read_timeout(shared.limits.idle_timeout.saturating_add(shared.limits.read_timeout))
        // A client may close its sending side after its request and still wait for the response.
        .half_close(true)
        .max_buf_size(64 << 10);
    builder.http2().timer(TokioTimer::new()).max_header_list_size(64 << 10).max_concurrent_streams(256);
    let builder = Arc::new(builder);
    let most = shared.limits.unauthenticated_connections.clamp(1, ADMISSIONS);
    let admissions = Arc::new(Semaphore::new(most));
    loop {
        let admitted = async {
            let admission = Arc::clone(&admissions).acquire_owned().await;
            (admission, listener.accept().await)
        };
        let (admission, accepted) = tokio::select! {
            admitted = admitted => admitted,
            _ = ending.changed() => break,
        };
        let (stream, caller) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Usually the process has run out of file descriptors. Closing a guest, or the end of any connection, frees one.
                if !shared.guests.evict()
                    && let Some(omitted) = shared.log_limits.connections.line(Instant::now())
                {
                    tracing::warn!(target: "table_server", %error, omitted, "a connection was not accepted");
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
                continue;
            }
        };
        // Small responses are sent immediately.
        let _ = stream.set_nodelay(true);
        let guest = Arc::new(shared.guests.enter(caller.ip()));
        let connection = Connection {
            service,
            caller: Caller { address: caller.ip(), secure: shared.transport.is_secure() },
            builder: Arc::clone(&builder),
            watcher: graceful.watcher(),
            guest: Arc::clone(&guest),
            shared: Arc::clone(&shared),
            #[cfg(feature = "tls")]
            ending: ending.clone(),
        };
        let mut closed = close.subscribe();
        let (open, first_request) = (shared.open.open(), shared.limits.first_request);
        tokio::spawn(async move {
            let _open = open;
            tokio::select! {
                () = in_turns(&guest, admission, connection.carry(stream)) => {}
                _ = closed.changed() => tracing::debug!(target: "table_server", "a connection was closed: the server stops"),
                () = guest.expired(first_request) => {
                    tracing::debug!(target: "table_server", "a connection was closed: it sent no verified request, or did not read its responses");
                }
            }
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(shared.limits.shutdown_grace, graceful.shutdown()).await;
    let _ = close.send(());
    close.closed().await;
}

/// An accepted connection.
struct Connection {
    service: Service,
    caller: Caller,
    builder: Arc<Builder<TokioExecutor>>,
    watcher: Watcher,
    guest: Arc<Guest>,
    shared: Arc<Shared>,
    /// The signal that the server is stopping.
    #[cfg(feature = "tls")]
    ending: watch::Receiver<()>,
}

impl Connection {
    /// Performs the TLS handshake if the server has a certificate, and then serves the connection's requests.
    #[cfg_attr(
        not(feature = "tls"),
        expect(unused_mut, reason = "only a handshake waits for the end of the server")
    )]
    async fn carry(mut self, stream: TcpStream) {
        let stream = Lingering::new(stream, self.shared.open.clone());
        let stream = TurnStream::new(stream, Arc::clone(&self.guest));
        match &self.shared.transport {
            Transport::Plain => self.serve(stream).await,
            #[cfg(feature = "tls")]
            Transport::Secure(tls) => {
                let handshake = tokio::time::timeout(self.shared.limits.read_timeout, tls.accept(stream));
                let shaken = tokio::select! {
                    shaken = handshake => shaken,
                    // The client cannot send a request before the handshake is complete, so the connection is simply closed.
                    _ = self.ending.changed() => return,
                };
                match shaken {
                    Ok(Ok(stream)) => self.serve(stream).await,
                    Ok(Err(error)) => {
                        tracing::debug!(target: "table_server", %error, "a handshake failed");
                    }
                    Err(_) => tracing::debug!(target: "table_server", "a handshake took too long"),
                }
            }
        }
    }

    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Self { service, caller, builder, watcher, guest, shared, .. } = self;
        let (stream, still) = idle::watched(stream, shared.limits.idle_timeout);
        let handle = service_fn(move |request| {
            handle(Arc::clone(&shared), service, request, caller, Arc::clone(&guest))
        });
        let connection = builder.serve_connection(TokioIo::new(stream), handle).into_owned();
        tokio::select! {
            served = watcher.watch(connection) => if let Err(error) = served {
                tracing::debug!(target: "table_server", error, "a connection broke");
            },
            () = still => tracing::debug!(target: "table_server", "an idle connection was closed"),
        }
    }
}
