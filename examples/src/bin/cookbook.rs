//! Runs the cookbook: imports real data into a store and runs one recipe after another.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use examples::cookbook::{self, Options};

/// Imports public-domain data into an embedded store or an account, then runs each recipe and prints its question, layout, plan,
/// result and cost.
#[derive(Debug, Parser)]
#[command(name = "cookbook", version)]
struct Arguments {
    /// Folder of the store: missing, empty, or created by an earlier run
    #[arg(long, default_value = "target/cookbook")]
    path: PathBuf,
    /// Keep the store in memory and leave no folder behind
    #[arg(long, conflicts_with = "path")]
    memory: bool,
    /// Keep tables, queues and blobs in this account, under unique names, until the end of the run (feature `azure`)
    #[arg(long, value_name = "CONNECTION_STRING", conflicts_with_all = ["path", "memory"])]
    azure: Option<String>,
    /// Run only this recipe; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// List the recipes and exit
    #[arg(long)]
    list: bool,
    /// Also run the recipes over N builds of Debian packages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=examples::large::MOST))]
    large: Option<u64>,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments { path, memory, azure, only, list, large } = arguments;
    if list {
        for (name, question) in cookbook::list() {
            println!("{name:<30} {question}");
        }
        return Ok(());
    }
    let options = Options { folder: (!memory).then_some(path), azure, only, large };
    block_on(cookbook::run(&options, &mut std::io::stdout().lock()))?
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
