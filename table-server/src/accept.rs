//! Connections: accepted, bounded, and ended in order.

use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use table_wire::sas::Caller;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::handle::handle;
use crate::idle;
use crate::linger::Lingering;
use crate::service::Service;
use crate::shared::Shared;
use crate::transport::Transport;

/// Accepts connections until `ending` changes, then lets those that are open end.
pub(crate) async fn accept(
    listener: TcpListener,
    service: Service,
    shared: Arc<Shared>,
    mut ending: watch::Receiver<()>,
) {
    let graceful = GracefulShutdown::new();
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.sending)
        .max_buf_size(64 << 10);
    builder.http2().timer(TokioTimer::new()).max_header_list_size(64 << 10).max_concurrent_streams(256);
    let builder = Arc::new(builder);
    loop {
        let next = async {
            let permit = Arc::clone(&shared.connections).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            next = next => next,
            _ = ending.changed() => break,
        };
        let (stream, caller) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(target: "table_server", %error, "a connection was not accepted");
                // Out of descriptors, for one: connections that end give some back.
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            }
        };
        // Small answers are not held back for more.
        let _ = stream.set_nodelay(true);
        let connection = Connection {
            service,
            caller: Caller { address: caller.ip(), secure: shared.transport.is_secure() },
            builder: Arc::clone(&builder),
            watcher: graceful.watcher(),
            shared: Arc::clone(&shared),
        };
        let held = (permit, shared.open.open());
        tokio::spawn(async move {
            let _held = held;
            connection.carry(stream).await;
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(shared.limits.closing, graceful.shutdown()).await;
}

/// A connection that is accepted.
struct Connection {
    service: Service,
    caller: Caller,
    builder: Arc<Builder<TokioExecutor>>,
    watcher: Watcher,
    shared: Arc<Shared>,
}

impl Connection {
    /// Brings it under TLS if it has to be, and serves its requests.
    async fn carry(self, stream: TcpStream) {
        let stream = Lingering::new(stream, self.shared.open.clone());
        match &self.shared.transport {
            Transport::Plain => self.serve(stream).await,
            #[cfg(feature = "tls")]
            Transport::Secure(tls) => {
                let handshake = tokio::time::timeout(self.shared.limits.sending, tls.accept(stream));
                match handshake.await {
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
        let Self { service, caller, builder, watcher, shared } = self;
        let (stream, still) = idle::watched(stream, shared.limits.idle);
        let handle = service_fn(move |request| handle(Arc::clone(&shared), service, request, caller));
        let connection = builder.serve_connection(TokioIo::new(stream), handle).into_owned();
        tokio::select! {
            served = watcher.watch(connection) => if let Err(error) = served {
                tracing::debug!(target: "table_server", error, "a connection broke");
            },
            () = still => tracing::debug!(target: "table_server", "a connection stood still"),
        }
    }
}
