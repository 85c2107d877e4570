//! `served COMMAND…`: starts `table-server` in memory, runs the command beside it, and ends with the command's exit code.
//!
//! Each argument `CONNECTION_STRING` becomes the connection string of the server, whose ports the system chose.

use std::env;
use std::process::ExitCode;

use tests::{beside, served};

fn main() -> ExitCode {
    beside::run("served", env::args_os().skip(1), &served::for_the_process())
}
