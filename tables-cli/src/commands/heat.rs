//! `tables heat`: shows the partitions of a table by rows or bytes, as text or as a picture.

use std::io::Write;
use std::path::PathBuf;

use table_core::{FromEntity, TableEntity};

use crate::audit;
use crate::commands::{Context, ORDER_HELP, count_of, end, say, table};
use crate::failure::{Exit, Failure, Result};
use crate::heat::{Heat, Measure};
use crate::incomplete::{Incomplete, refuse_existing};
use crate::output::{self, Format};
use crate::progress;
use crate::rows::{Pages, Selection};
use crate::store::Purpose;

/// Options of `heat`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables heat Company --store data/company\n  tables heat Company --by bytes --svg company.svg --store data/company\n\nThe strip shows all partitions in key order, from left to right; neighbours share a cell."
)]
pub(super) struct ShowHeat {
    /// The table
    table: String,
    #[command(flatten)]
    selection: Selection,
    /// The measure by which partitions are compared
    #[arg(long, value_enum, default_value_t)]
    by: Measure,
    /// The number of largest partitions to show
    #[arg(long, default_value_t = 10, value_name = "N")]
    largest: usize,
    /// Also write a picture to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace the picture if it exists
    #[arg(long, requires = "svg")]
    force: bool,
}

impl ShowHeat {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        self.svg.iter().try_for_each(|path| refuse_existing(path, self.force))?;
        let store = context.store.open(Purpose::Read).await?;
        store.require_key_order(ORDER_HELP)?;
        let name = table(&self.table)?;
        let selected = self.selection.rows(&store.tables, &name).await?;
        let mut heat = Heat::new(self.by, self.largest);
        let (mut pages, bar) = (Pages::new(&store.tables, &name, selected), progress::rows("measured"));
        while let Some(page) = pages.next().await? {
            for entity in page.rows.iter() {
                let entity = TableEntity::from_entity(entity)?;
                heat.push(entity.key().partition_key.as_str(), audit::size(&entity));
            }
            bar.set_position(heat.rows());
        }
        bar.finish_and_clear();
        heat.end();
        if let Some(path) = &self.svg {
            let part = Incomplete::create(path)?;
            let text = heat.svg(name.as_str());
            part.file().write_all(text.as_bytes()).map_err(Failure::file(path.display()))?;
            part.complete(self.force)?;
        }
        let rows: Vec<_> = heat
            .largest()
            .iter()
            .map(|found| {
                let share = format!("{:.1} %", heat.share(found));
                vec![found.name.clone(), found.rows.to_string(), found.bytes.to_string(), share]
            })
            .collect();
        output::rows(context.output, out, &["partition", "rows", "bytes", "share"], &rows)?;
        if context.output == Format::Table && !rows.is_empty() {
            let (partitions, rows) = (count_of(heat.partitions(), "partition"), count_of(heat.rows(), "row"));
            say(out, &format!("\n{partitions}, {rows}\n{}", heat.strip()))?;
        }
        Ok(end(if rows.is_empty() { Exit::Nothing } else { Exit::Done }, pages.omitted()))
    }
}
