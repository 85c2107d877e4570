//! `azurite COMMAND…` starts Azurite, runs the command while Azurite is running, and exits with the exit code of the command.
//!
//! Each `CONNECTION_STRING` argument is replaced with the connection string of the server. The system chooses the ports.

use std::env;
use std::process::ExitCode;

use tests::azurite::AzuriteServer;
use tests::command;

fn main() -> ExitCode {
    // Without Node, `shared` reports that the test is skipped, or panics if `CI` is `true`. The server stops when this process ends.
    let Some(server) = AzuriteServer::shared() else { return ExitCode::SUCCESS };
    command::run("azurite", env::args_os().skip(1), &server.connection_string())
}
