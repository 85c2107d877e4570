//! `tables completions` and `tables man`: shell completions and manual pages, generated from the command-line definition.

use std::io::Write;
use std::path::PathBuf;

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

/// Options of `man`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables man > tables.1\n  tables man --to src    # one page for each command"
)]
pub(super) struct Manual {
    /// Write the page of each command to this folder, such as tables-copy.1, instead of one page to the output
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

impl Manual {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<Exit> {
        match &self.to {
            None => {
                clap_mangen::Man::new(Tables::command())
                    .render(&mut &mut *out)
                    .map_err(Failure::file("-"))?;
            }
            Some(folder) => {
                clap_mangen::generate_to(Tables::command(), folder)
                    .map_err(Failure::file(folder.display()))?;
            }
        }
        Ok(Exit::Done)
    }
}
