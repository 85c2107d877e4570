//! `tables explain`: shows the cost class and the requests of a query without running it.

use std::io::Write;

use crate::commands::{Context, say, table};
use crate::failure::{Exit, Result};
use crate::rows::{self, Selection};
use crate::store::Purpose;

/// Options of `explain`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: tables explain Company department=Sales id=100..199")]
pub(super) struct Explain {
    /// The table
    table: String,
    #[command(flatten)]
    selection: Selection,
    /// Read only these properties (comma-separated)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    select: Vec<String>,
}

impl Explain {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let store = context.store.open(Purpose::Read).await?;
        let name = table(&self.table)?;
        let mut query = self.selection.rows(&store.tables, &name).await?.query;
        query.select = rows::select(&self.select);
        say(out, &query.plan(&name).to_string())?;
        Ok(Exit::Done)
    }
}
