//! `tables sync`: makes a table equal to another table by comparing their rows in key order.

use std::io::Write;

use table_core::query::KeyRange;
use table_core::{Query, TableName};

use crate::commands::{Context, omitted_part, say, table};
use crate::failure::{Exit, Failure, Result};
use crate::rows::Pages;
use crate::rows::{all_tables, require};
use crate::store::{Purpose, Store};
use crate::transfer::derived::{OtherTables, admit, refuse_alone};
use crate::transfer::ordered::Ordered;
use crate::transfer::parts::refuse_mixed_parts;
use crate::transfer::schema::SchemaRows;
use crate::transfer::sync::{SyncOptions, sync};
use crate::transfer::writer::Mode;
use table_inspect::derived;

/// Options of `sync`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables sync --store @production --to data/mirror\n  tables sync Company --store data/company --to data/mirror --dry-run\n\nA second run after no change writes nothing."
)]
pub(super) struct Sync {
    /// The table [default: every table of the store]
    table: Option<String>,
    /// The store to change
    #[arg(long, value_name = "STORE")]
    to: String,
    /// Keep rows that exist only in the target
    #[arg(long)]
    no_delete: bool,
    /// Write even if this makes indexes, copies or feeds of the target incorrect
    #[arg(long)]
    bypass_derived: bool,
    /// Count the differences without writing
    #[arg(long)]
    dry_run: bool,
    /// Write at most ROWS rows per second
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
}

impl Sync {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let (from, to) = (context.store.location()?, context.store.locate(&self.to)?);
        if from.is_same(&to) {
            return Err(Failure::Usage(
                "a store cannot be synchronised with itself; pass another `--to`".to_owned(),
            ));
        }
        let source = Store::open(&from, Purpose::Read).await?;
        let chosen = self.table.as_deref().map(table).transpose()?;
        if let Some(name) = &chosen {
            // Opening the target creates its folder, so the source is examined first.
            require(&source.tables, name).await?;
        }
        let target = Store::open(&to, if self.dry_run { Purpose::Read } else { Purpose::Create }).await?;
        for store in [&source, &target] {
            store.require_key_order("use `tables copy`, which needs no order")?;
        }
        let names = match chosen {
            Some(name) => vec![name],
            None => all_tables(&source.tables).await?,
        };
        let others = match &self.table {
            Some(_) => OtherTables::default(),
            None => OtherTables::new(&names, all_tables(&target.tables).await?),
        };
        let (keeps_extra, is_dry_run, rate) = (self.no_delete, self.dry_run, self.rate);
        let options = SyncOptions { keeps_extra, is_dry_run, rate, others };
        if !self.dry_run && !self.bypass_derived {
            for name in &names {
                self.admit(&source, &target, name).await?;
            }
        }
        let (mut sum, mut omitted) = (0, 0);
        for name in &names {
            // The schemas are read before the rows. If an index backfill finished while the rows were being read, schemas read later would declare an index
            // complete, although some of its rows were not copied.
            let schemas = match &self.table {
                Some(_) if !self.dry_run => SchemaRows::read(&source.tables, name).await?,
                _ => SchemaRows::default(),
            };
            let found = sync(&source.tables, &target.tables, name, &options).await?;
            schemas.store(&target.tables, name).await?;
            sum += found.sum();
            omitted += found.omitted;
            let would = if self.dry_run { "would change " } else { "" };
            let (added, changed, deleted) = (found.added, found.changed, found.deleted);
            let left = omitted_part(found.omitted);
            say(out, &format!("{would}{name}: {added} added, {changed} changed, {deleted} deleted{left}"))?;
        }
        Ok(if sum == 0 { Exit::Nothing } else { Exit::Done }.after_omitting(omitted))
    }

    /// Returns an error if the synchronisation would leave incorrect index rows, copies or feeds in the target.
    async fn admit(&self, source: &Store, target: &Store, name: &TableName) -> Result<()> {
        if self.table.is_some() {
            refuse_alone(derived::purpose(&source.tables, name).await?)?;
        }
        let schemas = SchemaRows::read(&source.tables, name).await?;
        let has_derived = admit(&schemas, (&target.tables, name), self.table.is_none()).await?;
        if has_derived && self.no_delete {
            let help = "omit `--no-delete`, or pass `--bypass-derived`";
            return Err(Failure::Refused(format!(
                "the entities of table {name} have derived rows; kept rows of the target would leave these wrong; {help}"
            )));
        }
        if self.no_delete {
            let rows = || Ordered::new(Pages::new(&source.tables, name, Query::new(KeyRange::ALL)));
            return refuse_mixed_parts(rows, (&target.tables, name), Mode::Replace).await;
        }
        Ok(())
    }
}
