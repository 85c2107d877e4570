//! `tables count`: counts entities, in total or by partition, and computes their checksum.

use std::io::Write;

use table_core::query::Select;
use table_core::{FromEntity, TableEntity};

use crate::commands::{Context, ORDER_HELP, end, table};
use crate::failure::{Exit, Result};
use crate::output;
use crate::progress;
use crate::rows::{Pages, Selection};
use crate::store::Purpose;
use crate::transfer::checksum::Checksum;

/// Options of `count`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  tables count Company --by-partition\n  tables count Company --checksum")]
pub(super) struct Count {
    /// The table
    table: String,
    #[command(flatten)]
    selection: Selection,
    /// Print one line for each partition
    #[arg(long)]
    by_partition: bool,
    /// Also compute the checksum of keys and properties; equal tables have equal checksums on any store
    #[arg(long)]
    checksum: bool,
}

impl Count {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let store = context.store.open(Purpose::Read).await?;
        if self.by_partition {
            store.require_key_order(ORDER_HELP)?;
        }
        let name = table(&self.table)?;
        let mut selected = self.selection.rows(&store.tables, &name).await?;
        if !self.checksum {
            // The values are not needed, so only the keys are requested.
            selected.query.select = Select::names(["PartitionKey", "RowKey"]);
        }
        let figures = |checksum: &Checksum| {
            let mut row = vec![checksum.count.to_string()];
            row.extend(self.checksum.then(|| checksum.to_string()));
            row
        };
        let mut names = vec!["rows"];
        names.extend(self.checksum.then_some("checksum"));
        if self.by_partition {
            names.insert(0, "partition");
        }
        let (mut sum, mut group) = (Checksum::default(), None::<(String, Checksum)>);
        let mut rows = output::Rows::new(context.output, out, &names);
        let of_group = |(partition, group): (String, Checksum)| [vec![partition], figures(&group)].concat();
        let mut pages = Pages::new(&store.tables, &name, selected);
        let bar = progress::rows("counted");
        while let Some(page) = pages.next().await? {
            for entity in page.rows.iter() {
                let entity = TableEntity::from_entity(entity)?;
                sum.add(&entity);
                let partition = entity.key().partition_key.as_str();
                if self.by_partition {
                    if let Some(ended) = group.take_if(|(last, _)| last != partition) {
                        rows.push(of_group(ended))?;
                    }
                    group.get_or_insert_with(|| (partition.to_owned(), Checksum::default())).1.add(&entity);
                }
            }
            bar.set_position(sum.count);
        }
        bar.finish_and_clear();
        match group {
            Some(last) => rows.push(of_group(last))?,
            None if self.by_partition => {}
            None => rows.push(figures(&sum))?,
        }
        rows.finish()?;
        Ok(end(if sum.count == 0 { Exit::Nothing } else { Exit::Done }, pages.omitted()))
    }
}
