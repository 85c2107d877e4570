//! `azurite COMMAND…` starts Azurite, runs the command next to it, and exits with the command's exit code.
//!
//! Each argument `CONNECTION_STRING` is replaced with the connection string of the server, whose ports are chosen by the system.

use std::env;
use std::process::ExitCode;

use tests::azurite::AzuriteServer;
use tests::command;

fn main() -> ExitCode {
    // Without Node, `shared` reports a skip, or panics if `CI` is `true`. The server ends with this process.
    let Some(server) = AzuriteServer::shared() else { return ExitCode::SUCCESS };
    command::run("azurite", env::args_os().skip(1), &server.connection_string())
}
