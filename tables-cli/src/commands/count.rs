//! `tables count`: how many entities, in sum or by partition, and their checksum.

use std::io::Write;

use table_core::query::Select;
use table_core::{FromEntity, TableEntity};

use crate::commands::{Context, table};
use crate::failure::{Exit, Result};
use crate::output;
use crate::rows::{Pages, Selection};
use crate::store::Purpose;
use crate::transfer::checksum::Checksum;
use crate::transfer::progress;

/// Options of `count`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  tables count Company --by-partition\n  tables count Company --checksum")]
pub(super) struct Count {
    /// The table
    table: String,
    #[command(flatten)]
    selection: Selection,
    /// One line for each partition
    #[arg(long)]
    by_partition: bool,
    /// Also the checksum of keys and properties: equal tables have equal checksums, on any store
    #[arg(long)]
    checksum: bool,
}

impl Count {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let store = context.store.open(Purpose::Read)?;
        let name = table(&self.table)?;
        let mut query = self.selection.query(&store.tables, &name).await?;
        if !self.checksum {
            // Keys alone: values would only be sent and thrown away.
            query.select = Select::names(["PartitionKey", "RowKey"]);
        }
        let (mut sum, mut groups) = (Checksum::default(), Vec::<(String, Checksum)>::new());
        let mut pages = Pages::new(&store.tables, &name, query);
        let bar = progress::rows("counted");
        while let Some(page) = pages.next().await? {
            for entity in page.rows.iter() {
                let entity = TableEntity::from_entity(entity)?;
                sum.add(&entity);
                let partition = entity.key().partition_key.as_str();
                if self.by_partition {
                    match groups.last_mut() {
                        Some((last, group)) if last == partition => group.add(&entity),
                        _ => {
                            let mut group = Checksum::default();
                            group.add(&entity);
                            groups.push((partition.to_owned(), group));
                        }
                    }
                }
            }
            bar.set_position(sum.count);
        }
        bar.finish_and_clear();
        let figures = |checksum: &Checksum| {
            let mut row = vec![checksum.count.to_string()];
            row.extend(self.checksum.then(|| checksum.to_string()));
            row
        };
        let mut names = vec!["rows"];
        names.extend(self.checksum.then_some("checksum"));
        if self.by_partition {
            names.insert(0, "partition");
            let rows: Vec<_> = groups
                .iter()
                .map(|(partition, group)| [vec![partition.clone()], figures(group)].concat())
                .collect();
            output::rows(context.output, out, &names, &rows)?;
        } else {
            output::rows(context.output, out, &names, &[figures(&sum)])?;
        }
        Ok(if sum.count == 0 { Exit::Nothing } else { Exit::Done })
    }
}
