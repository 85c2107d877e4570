//! Runs the help desk, an application that combines many patterns for one entity. It loads, queries, changes and checks its data.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use examples::helpdesk;
use examples::store::Place;

/// Loads tickets into an embedded store or an account, runs all queries of a help desk, changes agents and tickets, and prints
/// the cost of each operation.
#[derive(Debug, Parser)]
#[command(name = "helpdesk", version)]
struct Arguments {
    /// Keep the store in this folder, which must be missing or empty [default: a temporary folder, deleted at the end]
    #[arg(long)]
    path: Option<PathBuf>,
    /// Keep the store in memory
    #[arg(long, conflicts_with = "path")]
    memory: bool,
    /// Use this account for tables, queues and blobs under unique names, deleted at the end (feature `azure`)
    #[arg(long, value_name = "CONNECTION_STRING", conflicts_with_all = ["path", "memory"])]
    azure: Option<String>,
    /// Number of tickets to load
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1_000..=i64::from(helpdesk::MOST_TICKETS)))]
    tickets: u32,
}

fn main() -> ExitCode {
    let Arguments { path, memory, azure, tickets } = Arguments::parse();
    let place = Place::of(path, memory, azure);
    match block_on(helpdesk::run(&place, tickets)).flatten() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a future inside a tokio runtime, as required by the account's blob client.
#[cfg(feature = "azure")]
fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Box<dyn Error>> {
    Ok(tokio::runtime::Runtime::new()?.block_on(future))
}

#[cfg(not(feature = "azure"))]
#[expect(clippy::unnecessary_wraps, reason = "the signature of the feature `azure`")]
fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Box<dyn Error>> {
    Ok(pollster::block_on(future))
}
