//! The help desk: an application of many patterns on one entity, loaded, asked, changed and checked.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use examples::helpdesk;

/// Loads tickets into an embedded store or an account, asks all questions of a help desk, changes agents and tickets, and prints what each
/// operation costs.
#[derive(Debug, Parser)]
#[command(name = "helpdesk", version)]
struct Arguments {
    /// The folder of the store; what a run before left there is deleted
    #[arg(long, default_value = "target/helpdesk")]
    path: PathBuf,
    /// Keep the store in memory
    #[arg(long, conflicts_with = "path")]
    memory: bool,
    /// Keep tables, queues and blobs in this account, under names of their own, until the end of the run (feature `azure`)
    #[arg(long, value_name = "CONNECTION_STRING", conflicts_with_all = ["path", "memory"])]
    azure: Option<String>,
    /// How many tickets are loaded
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1_000..=9_000_000))]
    tickets: u32,
}

fn main() -> ExitCode {
    let Arguments { path, memory, azure, tickets } = Arguments::parse();
    let folder = (!memory && azure.is_none()).then_some(path);
    let run = helpdesk::run(folder.as_deref(), azure.as_deref(), tickets);
    match block_on(run).flatten() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Waits inside a runtime of tokio, which the client for blobs of an account needs.
#[cfg(feature = "azure")]
fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Box<dyn Error>> {
    Ok(tokio::runtime::Runtime::new()?.block_on(future))
}

#[cfg(not(feature = "azure"))]
#[expect(clippy::unnecessary_wraps, reason = "the signature of the feature `azure`")]
fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Box<dyn Error>> {
    Ok(pollster::block_on(future))
}
