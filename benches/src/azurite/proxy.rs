//! A proxy that counts the connections to a server and adds network latency to requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::Outcome;

/// A proxy running on separate threads.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    accepted: Arc<AtomicU64>,
    _runtime: Runtime,
}

impl Proxy {
    /// Starts a proxy that forwards to `server`. Data from clients is delayed by the given time.
    pub fn before(server: String, delay: Duration) -> Outcome<Self> {
        let runtime = Runtime::new()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let (address, accepted) = (listener.local_addr()?, Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&accepted);
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                let server = server.clone();
                // If the connection to the server breaks, the proxy also closes the connection to the client.
                tokio::spawn(async move { drop(join(client, server, delay).await) });
            }
        });
        Ok(Self { address, accepted, _runtime: runtime })
    }

    /// Returns the number of connections accepted so far.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Returns the connection string `direct` with the server's address replaced by the proxy's.
    #[must_use]
    pub fn connection_string(&self, direct: &str, server: &str) -> String {
        direct.replace(server, &self.address.to_string())
    }
}

async fn join(client: TcpStream, server: String, delay: Duration) -> std::io::Result<()> {
    let server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let ((mut from, mut to_client), (mut answers, mut to)) = (client.into_split(), server.into_split());
    let requests = async {
        let mut bytes = vec![0; 1 << 18];
        loop {
            let read = from.read(&mut bytes).await?;
            if read == 0 {
                return to.shutdown().await;
            }
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            to.write_all(bytes.get(..read).unwrap_or_default()).await?;
        }
    };
    let answers = async {
        copy(&mut answers, &mut to_client).await?;
        to_client.shutdown().await
    };
    futures_util::future::try_join(requests, answers).await.map(drop)
}
