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
mod tests;
