//! `tables sql`: runs the separately installed program `tables-sql`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use clap::ValueEnum;

use crate::commands::Context;
use crate::failure::{Exit, Failure, Result};
use crate::output::Format;

/// The name of the program that executes SQL statements.
const PROGRAM: &str = "tables-sql";

/// Options of `sql`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "It runs the program `tables-sql`: install it from a clone with `cargo install --path table-sql`.\n\nFor example: tables sql \"SELECT department, count(*) FROM Company GROUP BY department\" --store data/company"
)]
pub(super) struct Sql {
    /// The statement, and the options of `tables-sql`
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "STATEMENT")]
    arguments: Vec<OsString>,
}

impl Sql {
    pub(super) fn run(&self, context: &Context) -> Result<Exit> {
        let mut command = Command::new(program());
        command.args(&self.arguments);
        if let Some(format) =
            context.output.to_possible_value().filter(|_| context.output != Format::default())
        {
            command.args(["--output", format.get_name()]);
        }
        // Secrets are passed in environment variables, because other users can read the arguments of a process.
        if let Some(store) = &context.store.store {
            command.env("TABLES_STORE", store);
        }
        if let Some(config) = &context.store.config {
            command.env("TABLES_CONFIG", config);
        }
        match command.status() {
            Ok(status) => Ok(exit(status.code())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Failure::Refused(format!(
                "the program `{PROGRAM}` is not installed; install it from a clone with `cargo install --path table-sql`"
            ))),
            Err(error) => Err(Failure::file(PROGRAM)(error)),
        }
    }
}

/// Returns the path of `tables-sql` in this program's folder. If it is not there, returns its bare name, which is looked up in `PATH`.
fn program() -> PathBuf {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let sibling = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(&name)));
    sibling.filter(|path| path.is_file()).unwrap_or_else(|| name.into())
}

/// Converts an exit code of `tables-sql` to an exit code of this program.
const fn exit(code: Option<i32>) -> Exit {
    match code {
        Some(0) => Exit::Done,
        Some(1) => Exit::Nothing,
        Some(2) => Exit::Usage,
        Some(3) => Exit::Refused,
        Some(5) => Exit::Omitted,
        _ => Exit::Store,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_codes_of_the_program_are_those_of_the_command() {
        for expected in [Exit::Done, Exit::Nothing, Exit::Usage, Exit::Refused, Exit::Store, Exit::Omitted] {
            assert_eq!(exit(Some(expected as i32)), expected);
        }
        assert_eq!(exit(None), Exit::Store);
    }
}
