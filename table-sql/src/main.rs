//! The `tables-sql` program, started by `tables sql`.

use std::process::ExitCode;

use table_sql::cli::{TablesSql, run};

fn main() -> ExitCode {
    tables_cli::program(async |command: TablesSql, out| run(&command, out).await)
}
