//! Makes a table equal to another table by comparing their rows in key order.

use table_core::query::KeyRange;
use table_core::{DynTableStore, IfMatch, Query, TableName, TableStoreExt};

use crate::failure::Result;
use crate::rows::Pages;
use crate::transfer::compare::{Compared, Comparison};
use crate::transfer::derived::OtherTables;
use crate::transfer::ordered::Ordered;
use crate::transfer::progress;
use crate::transfer::writer::{Change, Mode, Writer};

/// The options of a synchronisation.
#[derive(Clone, Debug, Default)]
pub struct SyncOptions {
    /// `true` to keep rows that exist only in the target.
    pub keeps_extra: bool,
    /// `true` to count the differences without writing any changes.
    pub is_dry_run: bool,
    /// The maximum number of rows written per second.
    pub rate: Option<u32>,
    /// The tables that exist only in the target. The rows that register their schemas, outboxes and feeds are kept.
    pub others: OtherTables,
}

/// The numbers of rows that differ, by kind of difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The number of rows that exist only in the source.
    pub added: u64,
    /// The number of rows that exist in both tables with different properties.
    pub changed: u64,
    /// The number of rows that exist only in the target.
    pub deleted: u64,
}

impl Differences {
    /// Returns the total number of differences.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.added + self.changed + self.deleted
    }
}

/// Makes a table in the target equal to the same table in the source. After an error, another call completes the synchronisation.
///
/// # Errors
/// `Refused` if the target rejects a row. Any error from either store.
pub async fn sync(
    source: &DynTableStore,
    target: &DynTableStore,
    name: &TableName,
    options: &SyncOptions,
) -> Result<Differences> {
    let mut writer = Writer::new(target.clone(), name.clone(), Mode::Replace, options.rate);
    let (mut found, bar) = (Differences::default(), progress::rows("changed"));
    let pages = |store| Pages::new(store, name, Query::new(KeyRange::ALL));
    let mut comparison =
        Comparison::new(Ordered::new(pages(source))?, Ordered::new(pages(target).if_exists())?);
    let mut is_created = options.is_dry_run;
    loop {
        let next = comparison.next().await?;
        // The first read has returned an error if the source lacks the table.
        if !std::mem::replace(&mut is_created, true) {
            target.create_table_if_missing(name).await?;
        }
        let Some(compared) = next else { break };
        let change = match compared {
            Compared::Same(_) => continue,
            Compared::Missing(entity) => {
                found.added += 1;
                Change::Write(entity)
            }
            Compared::Changed { source, .. } => {
                found.changed += 1;
                Change::Write(source)
            }
            Compared::Extra(_) if options.keeps_extra => continue,
            Compared::Extra(entity) if options.others.keep(name, entity.key()) => continue,
            Compared::Extra(entity) => {
                found.deleted += 1;
                Change::Delete(entity.key().clone(), IfMatch::Any)
            }
        };
        bar.inc(1);
        if !options.is_dry_run {
            writer.push(0, change).await?;
            writer.refuse_rejected(&target.to_string())?;
        }
    }
    writer.flush().await?;
    bar.finish_and_clear();
    writer.refuse_rejected(&target.to_string())?;
    Ok(found)
}
