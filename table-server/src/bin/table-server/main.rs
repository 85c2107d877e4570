//! The `table-server` program, which serves tables and queues on this machine, in memory or from folders.

mod arguments;
mod fault;
mod file;
mod layers;
mod log;
mod oauth;
mod plan;
#[cfg(test)]
mod precedence;
mod spelled;
mod tls;
mod trial;

use std::error::Error as _;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use table_core::Error;
use table_server::Server;

use arguments::Arguments;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::of(&Arguments::command().get_matches()).unwrap_or_else(|error| error.exit());
    match serve(arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut text = error.message();
            let mut source = error.source();
            while let Some(cause) = source {
                text = format!("{text}\n  because: {cause}");
                source = cause.source();
            }
            // A failure to write to standard error is ignored.
            drop(writeln!(io::stderr(), "table-server: {text}"));
            ExitCode::FAILURE
        }
    }
}

/// Starts the server and serves requests until a signal stops it.
async fn serve(arguments: Arguments) -> Result<(), Error> {
    let file = plan::file(arguments.config.as_deref())?;
    plan::log(&arguments, &file).begin();
    let variable = std::env::var("TABLE_SERVER_KEY").ok();
    let (mut accounts, mut lines) = (Vec::new(), String::new());
    for planned in plan::accounts(&arguments, &file, variable.as_deref())? {
        lines += &planned.to_string();
        accounts.push(planned.open(&arguments, &file)?);
    }
    let mut config = plan::config(&arguments, &file, accounts);
    lines += &arguments.tls.apply(&file, config.tables.ip(), &mut config)?;
    config.bearer = arguments.oauth.bearer(&file)?;
    let server = Server::bind(config).await?;
    let end = asked_to_end();
    let [tables, queues, blobs] = [server.tables(), server.queues(), server.blobs()];
    let scheme = server.scheme();
    let text = format!(
        "tables {scheme}://{tables}  queues {scheme}://{queues}  no blobs {scheme}://{blobs}\n{lines}"
    );
    // If standard output is closed or its disk is full, the server still serves requests.
    let mut out = io::stdout();
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    server.serve_until(end).await;
    Ok(())
}

/// Returns a future that completes on SIGINT or SIGTERM, as sent by terminals, service managers and container runtimes. This call installs the signal handlers,
/// before the future is polled.
///
/// If a signal handler cannot be installed, the server runs until it is killed, which loses no acknowledged write.
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

/// Completes on Ctrl-C.
#[cfg(not(unix))]
async fn asked_to_end() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
