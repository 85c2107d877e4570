//! Binds a server's ports, and starts and stops the server.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use table_core::{Error, Result};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;

use crate::accept::accept;
use crate::config::Config;
use crate::fault::ServerFault;
use crate::observe;
use crate::service::Service;
use crate::shared::Shared;

/// The maximum length of the kernel's accept queue. If the queue is full, the client's kernel retries after a second. The operating system may impose a lower
/// limit, such as `net.core.somaxconn`.
const BACKLOG: u32 = 4_096;

/// A server with bound ports and loaded account settings.
#[derive(Debug)]
pub struct Server {
    tables: TcpListener,
    queues: TcpListener,
    blobs: TcpListener,
    observe: Option<TcpListener>,
    addresses: [SocketAddr; 3],
    shared: Arc<Shared>,
}

impl Server {
    /// Loads the accounts' settings and binds the ports.
    ///
    /// # Errors
    /// `InvalidInput` if other machines could use the emulator's public key or unsigned tokens, or if two accounts have the same name. `Io` if a port cannot be
    /// bound, for example because it is in use. `Io`, `Corrupted` or `EnginePoisoned` if an engine fails.
    pub async fn bind(config: Config) -> Result<Self> {
        config.check()?;
        let transport = config.transport();
        let Config { tables, queues, blobs, accounts, limits, observe, latency, bearer, .. } = config;
        let mut names = BTreeSet::new();
        if let Some(account) = accounts.iter().find(|account| !names.insert(account.name())) {
            return Err(Error::of(ServerFault::Twice(account.name().to_owned())));
        }
        for account in &accounts {
            account.load().await?;
        }
        let [tables, queues, blobs] = [bind(tables)?, bind(queues)?, bind(blobs)?];
        let observe = observe.map(bind).transpose()?;
        Ok(Self {
            addresses: [address(&tables)?, address(&queues)?, address(&blobs)?],
            tables,
            queues,
            blobs,
            observe,
            shared: Arc::new(Shared::new(accounts, limits, latency, transport, bearer)),
        })
    }

    /// Returns the address of the table service.
    #[must_use]
    pub const fn tables(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// Returns the address of the queue service.
    #[must_use]
    pub const fn queues(&self) -> SocketAddr {
        self.addresses[1]
    }

    /// Returns the address at which all blob requests are rejected.
    #[must_use]
    pub const fn blobs(&self) -> SocketAddr {
        self.addresses[2]
    }

    /// Returns the address of `/health`, `/ready`, `/metrics` and `POST /reset`, or `None` if the server does not serve them.
    #[must_use]
    pub fn observed(&self) -> Option<SocketAddr> {
        self.observe.as_ref()?.local_addr().ok()
    }

    /// Returns an account's connection string, which works with any client, or `None` if the server has no such account.
    ///
    /// The connection string contains an endpoint for blobs, which responds with 501.
    #[must_use]
    pub fn connection_string(&self, name: &str) -> Option<String> {
        let account = self.shared.accounts.iter().find(|account| account.name() == name)?;
        let ([tables, queues, blobs], key) = (self.addresses, account.key.to_base64());
        let scheme = self.scheme();
        Some(format!(
            "DefaultEndpointsProtocol={scheme};AccountName={name};AccountKey={key};TableEndpoint={scheme}://{tables}/{name};\
             QueueEndpoint={scheme}://{queues}/{name};BlobEndpoint={scheme}://{blobs}/{name};"
        ))
    }

    /// Returns the scheme of the server's URLs: `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        self.shared.transport.scheme()
    }

    /// Serves requests until `end` completes. The server then finishes requests in progress, closes connections still open after
    /// [`ServerLimits::shutdown_grace`](crate::ServerLimits::shutdown_grace), and writes a checkpoint of each engine.
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
            shared.end();
            drop(ended);
        };
        let observed = async {
            match observe {
                Some(listener) => observe::serve(listener, Arc::clone(&shared)).await,
                None => std::future::pending().await,
            }
        };
        let served = async { tokio::join!(all, end) };
        tokio::select! {
            _ = served => {}
            () = observed => {}
        }
        shared.finish().await;
        for account in &shared.accounts {
            if let Err(error) = account.engine.checkpoint().await {
                tracing::warn!(target: "table_server", account = account.name(), %error, "the checkpoint at the end failed");
            }
        }
    }
}

fn bind(address: SocketAddr) -> Result<TcpListener> {
    let bound = listen(address);
    bound.map_err(|source| Error::of(ServerFault::Listen { address: address.to_string(), source }))
}

fn address(listener: &TcpListener) -> Result<SocketAddr> {
    let fault = |source| Error::of(ServerFault::Listen { address: "its address".to_owned(), source });
    listener.local_addr().map_err(fault)
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As in `TcpListener::bind`, this allows an immediate server restart.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use chrono::Utc;
    use table_core::Engine;
    use table_wire::auth::{
        AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY, Scheme, SignedParts, print_http_date,
    };
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::sync::oneshot;

    use super::*;
    use crate::account::Account;
    use crate::limits::ServerLimits;

    async fn bound(limits: ServerLimits) -> Server {
        let account = Account::emulator(Engine::in_memory()).unwrap();
        Server::bind(Config { limits, ..Config::on_loopback(account) }.ephemeral()).await.unwrap()
    }

    /// Sends bytes, and waits until the server has accepted the connection.
    async fn sent(server: &Shared, address: SocketAddr, bytes: &str) -> TcpStream {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(bytes.as_bytes()).await.unwrap();
        while server.open.count() == 0 {
            tokio::task::yield_now().await;
        }
        client
    }

    #[tokio::test]
    async fn every_limit_may_be_the_maximum() {
        let (time, number) = (Duration::MAX, usize::MAX);
        let server = bound(ServerLimits {
            body_bytes: number,
            connections: number,
            unauthenticated_connections: number,
            first_request: time,
            requests: number,
            unread_response_bytes: number,
            read_timeout: time,
            idle_timeout: time,
            shutdown_grace: time,
        })
        .await;
        let (end, ended) = oneshot::channel::<()>();
        let (shared, address) = (Arc::clone(&server.shared), server.tables());
        let asking = async {
            let request = "GET /devstoreaccount1/Tables HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            let mut answer = String::new();
            sent(&shared, address, request).await.read_to_string(&mut answer).await.unwrap();
            drop(end);
            answer
        };
        let (answer, ()) = tokio::join!(asking, server.serve_until(async { drop(ended.await) }));
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    }

    #[tokio::test]
    async fn no_connection_remains_when_a_server_has_stopped() {
        let limits = ServerLimits { shutdown_grace: Duration::ZERO, ..ServerLimits::default() };
        let server = bound(limits).await;
        let (shared, address) = (Arc::clone(&server.shared), server.tables());
        let (connected, connection) = oneshot::channel();
        let client = async {
            // The request's head is incomplete, so the connection is not idle.
            drop(connected.send(sent(&shared, address, "GET /devstoreaccount1").await));
        };
        let mut clients = Vec::new();
        let end = async { clients.push(connection.await.unwrap()) };
        tokio::join!(client, server.serve_until(end));
        assert_eq!((clients.len(), shared.open.count()), (1, 0));
    }

    /// Lists the tables, and returns `true` if the response is complete and has status 200.
    async fn lists_tables(client: &mut TcpStream) -> bool {
        let key = AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap();
        let date = print_http_date(Utc::now());
        let headers = [("x-ms-date".parse().unwrap(), date.parse().unwrap())].into_iter().collect();
        let path = format!("/{EMULATOR_ACCOUNT}/Tables");
        let parts = SignedParts { method: "GET", path: &path, query: "", headers: &headers, length: 0 };
        let signature = Scheme::Table.authorization(&key, parts);
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nx-ms-date: {date}\r\nauthorization: {signature}\r\n\r\n"
        );
        // The server may have closed the connection.
        drop(client.write_all(request.as_bytes()).await);
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match client.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return false,
            }
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap()];
        head.starts_with("http/1.1 200") && client.read_exact(&mut body).await.is_ok()
    }

    /// Keeps the paused clock from advancing until the result is dropped. Otherwise, the clock would jump to the next timer while bytes are in transit or while
    /// an engine thread works.
    fn hold() -> mpsc::Sender<()> {
        let (held, end) = mpsc::channel();
        tokio::task::spawn_blocking(move || end.recv());
        held
    }

    /// Tests that a connection stays open between requests for `idle_timeout`, and is closed after at most twice that time, regardless of the `read_timeout`.
    #[tokio::test(start_paused = true)]
    async fn a_pause_between_requests_is_limited_by_the_idle_timeout_alone() {
        let seconds = Duration::from_secs;
        for (read_timeout, idle_timeout, pause, stays_open) in
            [(1, 60, 59, true), (1, 60, 121, false), (3_600, 60, 121, false), (1, 3_600, 3_599, true)]
        {
            let limits = ServerLimits {
                read_timeout: seconds(read_timeout),
                idle_timeout: seconds(idle_timeout),
                first_request: seconds(3_600),
                ..ServerLimits::default()
            };
            let held = hold();
            let server = bound(limits).await;
            let (end, ended) = oneshot::channel::<()>();
            let address = server.tables();
            let asking = async {
                let mut client = TcpStream::connect(address).await.unwrap();
                let first = lists_tables(&mut client).await;
                drop(held);
                tokio::time::sleep(seconds(pause)).await;
                let _held = hold();
                let second = lists_tables(&mut client).await;
                drop(end);
                [first, second]
            };
            let (answers, ()) = tokio::join!(asking, server.serve_until(async { drop(ended.await) }));
            assert_eq!(answers, [true, stays_open], "{pause} s of {idle_timeout} s");
        }
    }
}
