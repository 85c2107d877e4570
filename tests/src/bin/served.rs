//! `served COMMAND…` starts `table-server` in memory, runs the command while the server is running, and exits with the command's exit code.
//!
//! Each argument `CONNECTION_STRING` is replaced with the server's connection string. The system chooses the ports.

use std::env;
use std::process::ExitCode;

use tests::{command, served};

fn main() -> ExitCode {
    command::run("served", env::args_os().skip(1), &served::for_the_process())
}
