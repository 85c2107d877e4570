//! The program `table-server`: tables and queues on this machine, in memory or in folders.

mod arguments;
mod fault;
mod file;
mod log;
mod plan;
mod spelled;
mod tls;
mod trial;

use clap::Parser;
use table_core::Error;
use table_server::Server;

use arguments::Arguments;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let arguments = Arguments::parse();
    arguments.log.begin();
    let file = plan::file(arguments.config.as_deref())?;
    let variable = std::env::var("TABLE_SERVER_KEY").ok();
    let (mut accounts, mut lines) = (Vec::new(), String::new());
    for planned in plan::accounts(&arguments, &file, variable.as_deref())? {
        lines += &planned.to_string();
        accounts.push(planned.open(&arguments)?);
    }
    let mut config = plan::config(&arguments, &file, accounts);
    lines += &arguments.tls.apply(&file, config.tables.ip(), &mut config)?;
    let server = Server::bind(config).await?;
    let end = asked_to_end();
    let [tables, queues, blobs] = [server.tables(), server.queues(), server.blobs()];
    let scheme = server.scheme();
    print!("tables {scheme}://{tables}  queues {scheme}://{queues}  no blobs {scheme}://{blobs}\n{lines}");
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
