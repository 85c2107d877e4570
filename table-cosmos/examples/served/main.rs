//! `served COMMAND…` starts the Azure SDK's in-memory emulator behind a loopback address, runs the command, and exits with the command's exit code.
//!
//! Each argument `CONNECTION_STRING` is replaced with the emulator's connection string. The emulator has the database `tables`, which contains the container
//! `Events` with three levels.

#[path = "../../tests/python/bridge.rs"]
mod bridge;

use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use table_core::TableName;
use table_cosmos::emulator::{DATABASE, Emulator};
use tests::command;

/// The number of physical partitions in the container.
const PARTITIONS: u32 = 4;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let endpoint = runtime.block_on(async {
        let emulator = Emulator::new(false)?;
        emulator.create(&TableName::new("Events")?, 3, PARTITIONS, None)?;
        Ok::<_, Box<dyn Error>>(bridge::serve(emulator, Arc::default()).await?)
    })?;
    let connection =
        format!("AccountEndpoint={endpoint};AccountKey=dGVzdGtleQ==;Database={DATABASE};Region=East US");
    Ok(command::run("served", env::args_os().skip(1), &connection))
}
