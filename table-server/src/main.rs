//! The program `table-server`: tables and queues on this machine, in memory or in a folder.

mod log;
mod trial;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Parser;
use table_core::{Engine, Error};
use table_server::{Account, Config, Server};
use table_wire::auth::AccountKey;

use log::Log;
use trial::Trial;

/// Tables and queues with the protocol of Azure Table Storage.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Keep everything in memory.
    #[arg(long, conflicts_with = "path", required_unless_present = "path")]
    memory: bool,
    /// The folder of the engine.
    #[arg(long)]
    path: Option<PathBuf>,
    /// The address to listen on; any but loopback needs --account and `TABLE_SERVER_KEY`.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// The name of the account; its key in base64 is read from the variable `TABLE_SERVER_KEY`. Without it, the emulator's account.
    #[arg(long)]
    account: Option<String>,
    /// The port of tables.
    #[arg(long, default_value_t = 10_002)]
    table_port: u16,
    /// The port of queues.
    #[arg(long, default_value_t = 10_001)]
    queue_port: u16,
    /// The port at which blobs are refused.
    #[arg(long, default_value_t = 10_000)]
    blob_port: u16,
    /// Serve the emulator's account, whose key everyone knows, to other machines too.
    #[arg(long)]
    public_key_anywhere: bool,
    /// Answer `/health`, `/ready` and `/metrics` at this address, such as 127.0.0.1:10010.
    #[arg(long)]
    observe: Option<SocketAddr>,
    /// What is logged, on standard error.
    #[arg(long, value_enum, default_value_t = Log::Quiet)]
    log: Log,
    #[command(flatten)]
    trial: Trial,
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let arguments = Arguments::parse();
    arguments.log.begin();
    let options = Engine::builder().faults(arguments.trial.faults());
    let engine = match &arguments.path {
        Some(path) => options.open(path)?,
        None => options.in_memory(),
    };
    let account = match &arguments.account {
        Some(name) => Account::new(
            AccountKey::new(name, &std::env::var("TABLE_SERVER_KEY").unwrap_or_default())?,
            engine,
        ),
        None => Account::emulator(engine)?,
    };
    let mut config = Config::at(arguments.listen, vec![arguments.trial.throttled(account)]);
    (config.observe, config.latency) = (arguments.observe, arguments.trial.latency());
    config.tables.set_port(arguments.table_port);
    config.queues.set_port(arguments.queue_port);
    config.blobs.set_port(arguments.blob_port);
    config.public_key_anywhere = arguments.public_key_anywhere;
    let server = Server::bind(config).await?;
    let end = asked_to_end();
    println!("tables http://{}  queues http://{}", server.tables(), server.queues());
    server.serve_until(end).await;
    Ok(())
}

/// Ends at SIGINT and SIGTERM, which terminals, service managers and containers send; they are caught from the call on.
///
/// Where a signal cannot be caught, the server goes on until it is killed, which loses nothing that is acknowledged.
#[cfg(unix)]
fn asked_to_end() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async {
        let [interrupt, terminate] = signals.map(|signal| async {
            match signal {
                Ok(mut signal) => drop(signal.recv().await),
                Err(_) => std::future::pending().await,
            }
        });
        tokio::select! {
            () = interrupt => {}
            () = terminate => {}
        }
    }
}

/// Ends at Ctrl-C.
#[cfg(not(unix))]
async fn asked_to_end() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
