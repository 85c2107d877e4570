//! `azurite COMMAND…` starts Azurite, runs the command while Azurite is running, and exits with the command's exit code.
//!
//! Each argument `CONNECTION_STRING` is replaced with the server's connection string. The system chooses the ports.

use std::env;
use std::process::ExitCode;

use tests::azurite::AzuriteServer;
use tests::command;

fn main() -> ExitCode {
    // Without Node, `shared` reports a skip, or panics if `CI` is `true`. The server stops when this process ends.
    let Some(server) = AzuriteServer::shared() else { return ExitCode::SUCCESS };
    command::run("azurite", env::args_os().skip(1), &server.connection_string())
}
