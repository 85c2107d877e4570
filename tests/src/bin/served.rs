//! `served COMMAND…` starts `table-server` in memory, runs the command next to it, and exits with the command's exit code.
//!
//! Each argument `CONNECTION_STRING` is replaced with the connection string of the server, whose ports are chosen by the system.

use std::env;
use std::process::ExitCode;

use tests::{command, served};

fn main() -> ExitCode {
    command::run("served", env::args_os().skip(1), &served::for_the_process())
}
