//! `tables tail`: shows the newest rows of a partition, and shows further rows as they are added.

use std::io::Write;
use std::time::Duration;

use table_core::TableEntity;

use crate::commands::{Context, end, table};
use crate::failure::{Exit, Failure, Result};
use crate::output::{Entities, Format};
use crate::rows::Selection;
use crate::schemas;
use crate::store::Purpose;
use crate::tail::{Tail, entity_range, feed_range};
use table_inspect::kind::Kinds;

/// Options of `tail`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables tail Logs --partition web --lines 20 --store data/company\n  tables tail Orders --partition Sales --feed --follow --store @production\n\nIf RowKeys count down, the newest rows are read at once; otherwise the partition is read to its end first."
)]
pub(super) struct TailTable {
    /// The table
    table: String,
    #[command(flatten)]
    selection: Selection,
    /// The number of rows to show first
    #[arg(long, default_value_t = 10, value_name = "N")]
    lines: usize,
    /// Show rows as they are added, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// The number of seconds between two reads
    #[arg(long, default_value_t = 2, value_name = "SECONDS", requires = "follow")]
    interval: u64,
    /// Show the entries of the partition's feed instead of its rows
    #[arg(long)]
    feed: bool,
}

impl TailTable {
    pub(super) async fn run(&self, context: &Context, out: &mut (dyn Write + Send)) -> Result<Exit> {
        let name = table(&self.table)?;
        let store = context.store.open(Purpose::Read).await?;
        let mut selected = self.selection.rows(&store.tables, &name).await?;
        let query = &mut selected.query;
        if query.filter.is_some() || query.keys.partition_key.single().is_none() {
            let help = "pass `--partition KEY`, or all parts of its PartitionKey, and no `--filter`";
            return Err(Failure::Usage(format!("`tail` follows one partition; {help}")));
        }
        if self.follow && store.engine.is_some() {
            let help = "serve the folder with `tables serve`, and follow the server";
            return Err(Failure::Refused(format!("a folder is read as it was when it was opened; {help}")));
        }
        if self.feed {
            // Feed entries belong to no entity type.
            if selected.entities.take().is_some() {
                query.keys.row_key = feed_range();
            }
            query.keys.row_key.intersect(&feed_range());
        } else {
            // Internal rows sort after all entities and would appear as the last rows. They are shown only if the range selects nothing else.
            let mut entities = query.keys.row_key.clone();
            entities.intersect(&entity_range());
            if !entities.is_empty() {
                query.keys.row_key = entities;
            }
        }
        let schemas = schemas::of_table(&store.tables, &name).await?.readable();
        let in_range = selected.schemas(&schemas);
        let (mut tail, rows) =
            Tail::begin(store.tables.clone(), name.clone(), selected, self.lines, &in_range).await?;
        let is_empty = rows.is_empty();
        let all = context.output.schemas(&store.tables, &name).await?;
        let kinds = Kinds::new(name.as_str(), &all);
        show(context.output, out, &kinds, rows)?;
        if !self.follow {
            return Ok(end(if is_empty { Exit::Nothing } else { Exit::Done }, tail.omitted()));
        }
        loop {
            let pause = Duration::from_secs(self.interval.max(1));
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                // If the platform does not support signals, the process runs until it is killed.
                Ok(()) = tokio::signal::ctrl_c() => return Ok(end(Exit::Done, tail.omitted())),
            }
            show(context.output, out, &kinds, tail.poll().await?)?;
        }
    }
}

fn show(
    format: Format,
    out: &mut (dyn Write + Send),
    kinds: &Kinds<'_>,
    rows: Vec<TableEntity>,
) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut entities = Entities::new(format, out, Some(kinds.clone()));
    rows.into_iter().try_for_each(|row| entities.push(row))?;
    entities.finish()?;
    out.flush().map_err(Failure::file("-"))
}
