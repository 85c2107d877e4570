//! Runs the ledger, an accounting application for several tenants. It loads, posts, closes, moves and erases books, checks their invariants, and prints rates.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use examples::ledger;
use examples::store::Place;

/// Loads journal entries into an embedded store or an account, posts from several tasks, runs the queries of an accountant, moves a tenant
/// to another store, erases the tenant, and checks the invariants of the books.
#[derive(Debug, Parser)]
#[command(name = "ledger", version)]
struct Arguments {
    /// Keep the store in this folder, which must be missing or empty [default: a temporary folder, deleted at the end]
    #[arg(long)]
    path: Option<PathBuf>,
    /// Keep the store in memory
    #[arg(long, conflicts_with = "path")]
    memory: bool,
    /// Use this account for tables and blobs under unique names, deleted at the end (feature `azure`)
    #[arg(long, value_name = "CONNECTION_STRING", conflicts_with_all = ["path", "memory"])]
    azure: Option<String>,
    /// Number of entries to load
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(200..=9_000_000))]
    entries: u32,
    /// Number of concurrent tasks that post to one tenant
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=256))]
    tasks: u16,
}

fn main() -> ExitCode {
    let Arguments { path, memory, azure, entries, tasks } = Arguments::parse();
    let place = Place::of(path, memory, azure);
    match block_on(ledger::run(&place, entries, tasks.into())).flatten() {
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
