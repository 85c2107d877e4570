//! `tables sync`: makes a table equal to another, by comparing both in key order.

use std::io::Write;

use table_core::{IfMatch, TableName, TableStore, TableStoreExt};

use crate::commands::copy::everything;
use crate::commands::{Context, say, table};
use crate::failure::{Exit, Failure, Result};
use crate::rows::{Pages, all_tables};
use crate::store::{Purpose, Store};
use crate::transfer::compare::{Compared, Comparison};
use crate::transfer::ordered::Paged;
use crate::transfer::progress;
use crate::transfer::writer::{Change, Mode, Writer};

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
    /// Count the differences without writing
    #[arg(long)]
    dry_run: bool,
    /// Write at most this many rows per second
    #[arg(long, value_name = "ROWS")]
    rate: Option<u32>,
}

#[derive(Default)]
struct Counts {
    added: u64,
    changed: u64,
    deleted: u64,
}

impl Sync {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let source = context.store.open(Purpose::Read)?;
        let to = context.store.locate(&self.to)?;
        if to.to_string() == source.shown {
            return Err(Failure::Usage(
                "a store cannot be synchronised with itself; give another `--to`".to_owned(),
            ));
        }
        let target = Store::open(&to, if self.dry_run { Purpose::Read } else { Purpose::Create })?;
        for store in [&source, &target] {
            if !store.tables.capabilities().ordered {
                let help = "use `tables copy`, which needs no order";
                return Err(Failure::Refused(format!(
                    "{} does not answer in key order; {help}",
                    store.shown
                )));
            }
        }
        let names = match &self.table {
            Some(name) => vec![table(name)?],
            None => all_tables(&source.tables).await?,
        };
        let mut sum = 0;
        for name in &names {
            let counts = self.table(&source, &target, name).await?;
            sum += counts.added + counts.changed + counts.deleted;
            let would = if self.dry_run { "would change " } else { "" };
            let (added, changed, deleted) = (counts.added, counts.changed, counts.deleted);
            say(out, &format!("{would}{name}: {added} added, {changed} changed, {deleted} deleted"))?;
        }
        Ok(if sum == 0 { Exit::Nothing } else { Exit::Done })
    }

    async fn table(&self, source: &Store, target: &Store, name: &TableName) -> Result<Counts> {
        if !self.dry_run {
            target.tables.create_table_if_missing(name).await?;
        }
        let mut writer = Writer::new(target.tables.clone(), name.clone(), Mode::Replace, self.rate);
        let (mut counts, bar) = (Counts::default(), progress::rows("changed"));
        let (left, right) =
            (Pages::new(&source.tables, name, everything()), Pages::new(&target.tables, name, everything()));
        let mut comparison = Comparison::new(Paged::new(left), Paged::new(right));
        while let Some(compared) = comparison.next().await? {
            let change = match compared {
                Compared::Same(_) => continue,
                Compared::Missing(entity) => {
                    counts.added += 1;
                    Change::Write(entity)
                }
                Compared::Changed { source, .. } => {
                    counts.changed += 1;
                    Change::Write(source)
                }
                Compared::Extra(_) if self.no_delete => continue,
                Compared::Extra(entity) => {
                    counts.deleted += 1;
                    Change::Delete(entity.key().clone(), IfMatch::Any)
                }
            };
            bar.inc(1);
            if !self.dry_run {
                writer.push(0, change).await?;
            }
        }
        writer.flush().await?;
        bar.finish_and_clear();
        match writer.take_rejected().into_iter().next() {
            None => Ok(counts),
            Some(rejected) => {
                Err(Failure::Refused(format!("{} refuses a row: {}", target.shown, rejected.reason)))
            }
        }
    }
}
