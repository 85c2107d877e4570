//! The `tables` program: parses the command line, runs the command, prints errors, and exits with a stable exit code.

use std::process::ExitCode;

use tables_cli::Tables;

fn main() -> ExitCode {
    tables_cli::program(async |tables: Tables, out| tables_cli::run(tables, out).await)
}
