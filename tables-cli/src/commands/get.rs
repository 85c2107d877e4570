//! `tables get`: shows one entity.

use std::io::Write;

use crate::commands::{Context, key, table};
use crate::failure::{Exit, Result};
use crate::output::Entities;
use crate::store::Purpose;
use table_inspect::keys;
use table_inspect::kind::Kinds;

/// Options of `get`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: tables get Company Sales empid_000223 --store data/company")]
pub(super) struct Get {
    /// The table
    table: String,
    /// The PartitionKey
    partition_key: String,
    /// The RowKey
    row_key: String,
    /// Show the raw key instead of its parts
    #[arg(long)]
    raw: bool,
}

impl Get {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let store = context.store.open(Purpose::Read).await?;
        let name = table(&self.table)?;
        let key = key(&self.partition_key, &self.row_key)?;
        let Some(entity) = keys::read(&store.tables, &name, &key).await? else { return Ok(Exit::Nothing) };
        let schemas =
            if self.raw { Vec::new() } else { context.output.schemas(&store.tables, &name).await? };
        let kinds = (!self.raw).then(|| Kinds::new(name.as_str(), &schemas));
        let mut entities = Entities::new(context.output, out, kinds);
        entities.push(entity)?;
        entities.finish()?;
        Ok(Exit::Done)
    }
}
