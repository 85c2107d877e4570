//! Starts a server in the test process, for use by a program.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::channel;
use std::thread;

use table_core::Engine;
use table_server::{Account, Config, Server};
use table_wire::auth::AccountKey;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// The name of the account created by [`account`].
pub const ACCOUNT: &str = "contoso";
/// The key of the account created by [`account`].
pub const KEY: &str = "a2V5";

/// Creates an account with an in-memory engine.
///
/// # Panics
/// Does not panic in practice, because the key is valid.
#[must_use]
pub fn account() -> Account {
    let key = AccountKey::new(ACCOUNT, KEY).unwrap_or_else(|error| panic!("{error}"));
    Account::new(key, Engine::in_memory())
}

/// Starts a server for [`account`] and for the account of the emulator. Returns the connection string for [`account`].
///
/// The server runs on separate threads until the process ends.
///
/// # Panics
/// Panics if the server cannot be started.
#[must_use]
pub fn for_the_process() -> String {
    let (sent, started) = channel();
    let run = async move {
        let accounts = Account::emulator(Engine::in_memory()).map(|emulator| vec![account(), emulator]);
        let server = match accounts {
            Ok(accounts) => {
                Server::bind(Config::listening_on(Ipv4Addr::LOCALHOST.into(), accounts).ephemeral()).await
            }
            Err(error) => Err(error),
        };
        let connection = server.as_ref().map(|server| server.connection_string(ACCOUNT).unwrap_or_default());
        // The caller waits for this message.
        drop(sent.send(connection.map_err(ToString::to_string)));
        if let Ok(server) = server {
            server.serve_until(std::future::pending()).await;
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.unwrap_or_else(|error| panic!("the server has no threads: {error}"));
    thread::spawn(move || runtime.block_on(run));
    let started = started.recv().unwrap_or_else(|_| Err("it broke off".to_owned()));
    started.unwrap_or_else(|error| panic!("the server does not start: {error}"))
}

/// Runs a program and a server on one thread. The program receives the connection string, and the address at which the server offers metrics and health checks.
///
/// # Panics
/// Panics if the server cannot be started.
pub fn with_server<F: Future<Output = ()>>(config: Config, program: impl FnOnce(String, SocketAddr) -> F) {
    let run = async {
        let mut config = config.ephemeral();
        config.observe = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        let server = Server::bind(config).await.map_err(|error| error.to_string())?;
        let connection = server.connection_string(ACCOUNT).ok_or("no such account")?;
        let observed = server.observed().ok_or("it is not observed")?;
        let (end, ended) = oneshot::channel::<()>();
        let program = async {
            program(connection, observed).await;
            drop(end);
        };
        tokio::join!(server.serve_until(async { drop(ended.await) }), program);
        Ok::<(), String>(())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(run));
    assert_eq!(done, Ok(()), "the server does not start");
}

/// Sends a plain GET request to `address`. Returns the response, including its head.
///
/// # Panics
/// Panics if no response arrives.
pub async fn asked(address: SocketAddr, path: &str) -> String {
    let ask = async {
        let mut stream = TcpStream::connect(address).await?;
        stream
            .write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())
            .await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.map(|_| text)
    };
    ask.await.unwrap_or_else(|error| panic!("{path}: {error}"))
}
