//! `tables completions` and `tables man`, generated from the definition of the command line.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::commands::Tables;
use crate::failure::{Exit, Failure, Result};

/// Options of `completions`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: tables completions bash > tables.bash")]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<Exit> {
        let mut bytes = Vec::new();
        clap_complete::generate(self.shell, &mut Tables::command(), "tables", &mut bytes);
        out.write_all(&bytes).map_err(Failure::file("-"))?;
        Ok(Exit::Done)
    }
}

/// Writes the manual page.
pub(super) fn man(out: &mut dyn Write) -> Result<Exit> {
    clap_mangen::Man::new(Tables::command()).render(&mut &mut *out).map_err(Failure::file("-"))?;
    Ok(Exit::Done)
}
