//! `tables infer`: prints a Rust declaration that matches the rows of an existing table.

use std::io::Write;

use table_core::{FromEntity, TableEntity};

use crate::commands::{Context, end, table};
use crate::failure::{Exit, Failure, Result};
use crate::rows::{Pages, Selection};
use crate::store::Purpose;
use crate::terminal::Printable;
use table_inspect::infer;

/// Options of `infer`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: tables infer Company --store @production > src/company.rs")]
pub(super) struct Infer {
    /// The table
    table: String,
    #[command(flatten)]
    selection: Selection,
    /// Read at most ROWS rows, which are held in memory
    #[arg(long, default_value_t = 20_000, value_name = "ROWS")]
    sample: usize,
}

impl Infer {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let store = context.store.open(Purpose::Read).await?;
        let name = table(&self.table)?;
        let selected = self.selection.rows(&store.tables, &name).await?;
        let mut pages = Pages::new(&store.tables, &name, selected);
        let mut rows = Vec::new();
        while rows.len() < self.sample {
            let Some(page) = pages.next().await? else { break };
            for entity in page.rows.iter().take(self.sample - rows.len()) {
                rows.push(TableEntity::from_entity(entity)?);
            }
        }
        if rows.is_empty() {
            return Ok(end(Exit::Nothing, pages.omitted()));
        }
        write!(out, "{}", Printable(infer::infer(name.as_str(), &rows))).map_err(Failure::file("-"))?;
        Ok(end(Exit::Done, pages.omitted()))
    }
}
