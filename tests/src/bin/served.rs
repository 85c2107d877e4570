//! `served COMMAND…` starts `table-server` in memory, runs the command while the server is running, and exits with the exit code of the command.
//!
//! Each `CONNECTION_STRING` argument is replaced with the connection string of the server. The system chooses the ports.

use std::env;
use std::process::ExitCode;

use tests::{command, served};

fn main() -> ExitCode {
    command::run("served", env::args_os().skip(1), &served::for_the_process())
}
