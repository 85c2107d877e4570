//! Deletes the rows selected by a query, with one transaction per group of rows. The parts of a wide entity are deleted in one transaction.

#[cfg(test)]
mod tests;

use table_core::query::Select;
use table_core::{DynTableStore, EntityKey, IfMatch, TableName};
use table_inspect::derived::WidePart;
use table_patterns::wide::WRITE_ID;

use crate::failure::Result;
use crate::progress;
use crate::rows::{Pages, Selected};
use crate::transfer::wholes::Wholes;
use crate::transfer::writer::{Change, Mode, Writer};

/// The numbers of rows deleted and kept by a deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The number of rows deleted by this command, including rows that no longer existed.
    pub deleted: u64,
    /// The number of rows kept because they, or other parts of the same wide entity, had changed since they were read.
    pub kept: u64,
    /// The number of rows kept because the store omitted them: it cannot represent them as entities.
    pub omitted: u64,
}

/// Deletes the selected rows of a table. Unless `in_any_version` is `true`, rows that have changed since they were read are kept. After an error, another call
/// deletes the remaining rows.
///
/// # Errors
/// Any error from the store.
pub async fn delete(
    store: &DynTableStore,
    name: &TableName,
    selected: Selected,
    in_any_version: bool,
    rate: Option<u32>,
) -> Result<Deleted> {
    let selected = selected.with_select(Select::names(["PartitionKey", "RowKey", WRITE_ID]));
    let mut writer = Writer::new(store.clone(), name.clone(), Mode::Replace, rate).tolerant();
    let mut pages = Pages::new(store, name, selected);
    // On a store without key order, deletions of parts are held back until the last page, because any page may contain another part.
    let mut open = Wholes::<Vec<Change>>::new(pages.is_ordered());
    let (mut kept, bar) = (0, progress::rows("deleted"));
    while let Some(page) = pages.next().await? {
        for row in page.rows.iter() {
            for (_, deletions) in open.closed_by(row)? {
                writer.push_unit(0, deletions).await?;
            }
            let condition = if in_any_version { IfMatch::Any } else { IfMatch::ETag(row.etag()) };
            let deletion = Change::Delete(EntityKey::new(row.partition_key, row.row_key)?, condition);
            match WidePart::of(row)? {
                Some(part) => open.entry(row.partition_key, part.base).0.push(deletion),
                None => writer.push(0, deletion).await?,
            }
        }
        kept += writer.take_rejected().len() as u64;
        bar.set_position(writer.settled());
    }
    for (_, deletions) in open.into_rest()? {
        writer.push_unit(0, deletions).await?;
    }
    writer.flush().await?;
    bar.finish_and_clear();
    kept += writer.take_rejected().len() as u64;
    Ok(Deleted { deleted: writer.settled() - kept, kept, omitted: pages.omitted() })
}
