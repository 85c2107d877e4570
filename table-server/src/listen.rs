//! Connections: accepted, bounded, and ended in order.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use table_core::{Error, ErrorCode, Result};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::account::{Account, Service};
use crate::answer::Answer;
use crate::config::Config;
use crate::exchange::Exchange;
use crate::limits::ServerLimits;
use crate::metrics::{self, Metrics, UnderWay};
use crate::observe::{self, Observed};
use crate::refusal::Refusal;
use crate::route;

/// A server that holds its ports.
#[derive(Debug)]
pub struct Server {
    tables: TcpListener,
    queues: TcpListener,
    blobs: TcpListener,
    observe: Option<TcpListener>,
    addresses: [SocketAddr; 3],
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    accounts: Vec<Account>,
    limits: ServerLimits,
    latency: Duration,
    metrics: Metrics,
    /// Whether it was asked to end.
    ending: AtomicBool,
    /// Connections that were accepted and go on.
    open: AtomicUsize,
    connections: Arc<Semaphore>,
    requests: Semaphore,
}

impl Server {
    /// Takes the ports.
    ///
    /// # Errors
    /// `InvalidInput` for an account with the emulator's public key at an address that other machines reach; `Io` for a port that is
    /// taken.
    pub async fn bind(config: Config) -> Result<Self> {
        if let Some(account) = config.exposed() {
            let message = format!(
                "account `{}` has the emulator's key, which everyone knows: listen on loopback, or give it a key of its own",
                account.name()
            );
            return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("AUTH-30"));
        }
        let Config { tables, queues, blobs, accounts, limits, observe, latency, .. } = config;
        for account in &accounts {
            account.load().await?;
        }
        let (tables, queues, blobs) = (bind(tables).await?, bind(queues).await?, bind(blobs).await?);
        let observe = match observe {
            Some(address) => Some(bind(address).await?),
            None => None,
        };
        let address =
            |listener: &TcpListener| listener.local_addr().map_err(|error| io("its address", error));
        Ok(Self {
            addresses: [address(&tables)?, address(&queues)?, address(&blobs)?],
            tables,
            queues,
            blobs,
            observe,
            shared: Arc::new(Shared {
                accounts,
                limits,
                latency,
                metrics: Metrics::default(),
                ending: AtomicBool::new(false),
                open: AtomicUsize::new(0),
                connections: Arc::new(Semaphore::new(limits.connections)),
                requests: Semaphore::new(limits.requests),
            }),
        })
    }

    /// Where tables are served.
    #[must_use]
    pub const fn tables(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// Where queues are served.
    #[must_use]
    pub const fn queues(&self) -> SocketAddr {
        self.addresses[1]
    }

    /// Where requests for blobs are refused.
    #[must_use]
    pub const fn blobs(&self) -> SocketAddr {
        self.addresses[2]
    }

    /// Where health, readiness and metrics are told, if they are.
    #[must_use]
    pub fn observed(&self) -> Option<SocketAddr> {
        self.observe.as_ref()?.local_addr().ok()
    }

    /// The connection string of an account of this server, for any client; `None` if it has no such account. It names the endpoint of
    /// blobs, too: a client that misses one asks the vendor's cloud.
    #[must_use]
    pub fn connection_string(&self, name: &str) -> Option<String> {
        let account = self.shared.accounts.iter().find(|account| account.name() == name)?;
        let ([tables, queues, blobs], key) = (self.addresses, account.key.to_base64());
        Some(format!(
            "DefaultEndpointsProtocol=http;AccountName={name};AccountKey={key};\
             TableEndpoint=http://{tables}/{name};QueueEndpoint=http://{queues}/{name};BlobEndpoint=http://{blobs}/{name};"
        ))
    }

    /// Answers requests until something happens, then lets those that are begun end, and writes a checkpoint of each engine.
    pub async fn serve_until(self, end: impl Future<Output = ()>) {
        let (ended, ending) = watch::channel(());
        let Self { tables, queues, blobs, observe, shared, .. } = self;
        let accept = |listener, service| accept(listener, service, Arc::clone(&shared), ending.clone());
        let all = async {
            tokio::join!(
                accept(tables, Service::Tables),
                accept(queues, Service::Queues),
                accept(blobs, Service::Blobs)
            )
        };
        let end = async {
            end.await;
            shared.ending.store(true, Ordering::Relaxed);
            drop(ended);
        };
        let told = async {
            match observe {
                Some(listener) => observe::serve(listener, Arc::clone(&shared)).await,
                None => std::future::pending().await,
            }
        };
        let served = async { tokio::join!(all, end) };
        tokio::select! {
            _ = served => {}
            () = told => {}
        }
        for account in &shared.accounts {
            if let Err(error) = account.engine.checkpoint().await {
                tracing::warn!(target: "table_server", account = account.name(), %error, "no checkpoint at the end");
            }
        }
    }
}

/// A connection that is counted as long as this is.
struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Observed for Shared {
    fn is_ready(&self) -> bool {
        let takes = self.connections.available_permits() > 0 && self.requests.available_permits() > 0;
        takes && !self.ending.load(Ordering::Relaxed)
    }

    fn metrics(&self) -> String {
        let under_way = UnderWay {
            connections: self.open.load(Ordering::Relaxed),
            requests: self.limits.requests.saturating_sub(self.requests.available_permits()),
        };
        metrics::write(&self.metrics, &self.accounts, under_way)
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| io(&address.to_string(), error))
}

fn io(what: &str, error: io::Error) -> Error {
    Error::new(ErrorCode::Io, format!("the server cannot listen on {what}")).with_source(error)
}

async fn accept(
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
        shared.open.fetch_add(1, Ordering::Relaxed);
        let open = Open(Arc::clone(&shared));
        let shared = Arc::clone(&shared);
        let handle = service_fn(move |request| handle(Arc::clone(&shared), service, request, caller));
        let connection = builder.serve_connection(TokioIo::new(stream), handle).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let _held = (permit, open);
            if let Err(error) = connection.await {
                tracing::debug!(target: "table_server", error, "a connection broke");
            }
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(shared.limits.closing, graceful.shutdown()).await;
}

async fn handle(
    shared: Arc<Shared>,
    service: Service,
    request: Request<Incoming>,
    caller: SocketAddr,
) -> std::result::Result<Response<Full<Bytes>>, Infallible> {
    let begun = Instant::now();
    let (parts, body) = request.into_parts();
    let mut exchange = Exchange::new(service, parts, caller);
    let answer = match read(&shared, &mut exchange, body).await {
        Ok(_permit) => route::answer(&shared.accounts, &mut exchange).await,
        Err(refusal) => Answer::refused(&refusal, &exchange),
    };
    if !shared.latency.is_zero() {
        tokio::time::sleep(shared.latency).await;
    }
    shared.metrics.count(&observe::log(&exchange, &answer, begun.elapsed()));
    Ok(answer.into_response(&exchange))
}

/// Reads the body, within its bounds, and takes the place of a request.
async fn read<'a>(
    shared: &'a Shared,
    exchange: &mut Exchange,
    body: Incoming,
) -> std::result::Result<tokio::sync::SemaphorePermit<'a>, Refusal> {
    let permit = shared
        .requests
        .try_acquire()
        .map_err(|_| Refusal::new(503, "ServerBusy", "The server is busy with other requests."))?;
    if body.is_end_stream() {
        return Ok(permit);
    }
    let body = Limited::new(body, shared.limits.body_bytes).collect();
    let read = tokio::time::timeout(shared.limits.sending, body).await;
    let read = read.map_err(|_| Refusal::new(408, "RequestTimeout", "The body took too long to arrive."))?;
    exchange.body = match read {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            return Err(Refusal::new(
                413,
                "RequestBodyTooLarge",
                "The body is larger than the service takes.",
            ));
        }
        Err(_) => return Err(Refusal::input("The body broke off.")),
    };
    Ok(permit)
}
