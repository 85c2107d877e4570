//! Deletes the rows that a query selects, with one transaction per group of rows. The parts of a wide entity are deleted in one transaction.

#[cfg(test)]
mod tests;

use table_core::query::{EntityRef, Select};
use table_core::{DynTableStore, EntityKey, IfMatch, TableName};
use table_inspect::derived::WidePart;
use table_patterns::wide::WRITE_ID;

use crate::failure::Result;
use crate::rows::{Pages, Selected};
use crate::transfer::progress;
use crate::transfer::writer::{Change, Mode, Writer};

/// The numbers of rows that a deletion has deleted and kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The number of rows that this command deleted or that were already deleted.
    pub deleted: u64,
    /// The number of rows that were kept because they, or other parts of the same wide entity, had changed since they were read.
    pub kept: u64,
}

/// The deletions of the parts of one wide entity that have been read so far.
struct Parts {
    whole: EntityKey,
    deletions: Vec<Change>,
}

impl Parts {
    /// Returns `true` if this row, or a row after it in key order, can be a part of the entity.
    fn can_follow(&self, row: &EntityRef<'_>) -> bool {
        let rest = row.row_key.strip_prefix(self.whole.row_key.as_str());
        self.whole.partition_key.as_str() == row.partition_key
            && rest.is_some_and(|rest| rest.starts_with('_'))
    }
}

/// Deletes the selected rows of a table, either only in the version that was read or in any version. After an error, another call deletes the remaining rows.
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
    // Rows of other entities may be between the parts of an entity. In a store without an order, the parts may be on any page.
    let (mut open, is_ordered): (Vec<Parts>, bool) = (Vec::new(), pages.is_ordered());
    let (mut kept, bar) = (0, progress::rows("deleted"));
    while let Some(page) = pages.next().await? {
        for row in page.rows.iter() {
            while let Some(at) = open.iter().position(|parts| is_ordered && !parts.can_follow(&row)) {
                writer.push_unit(0, open.swap_remove(at).deletions).await?;
            }
            let condition = if in_any_version { IfMatch::Any } else { IfMatch::ETag(row.etag()) };
            let deletion = Change::Delete(EntityKey::new(row.partition_key, row.row_key)?, condition);
            let Some(part) = WidePart::of(row)? else {
                writer.push(0, deletion).await?;
                continue;
            };
            let whole = EntityKey::new(row.partition_key, part.base)?;
            match open.iter_mut().find(|parts| parts.whole == whole) {
                Some(parts) => parts.deletions.push(deletion),
                None => open.push(Parts { whole, deletions: vec![deletion] }),
            }
        }
        kept += writer.take_rejected().len() as u64;
        bar.set_position(writer.settled());
    }
    for parts in open {
        writer.push_unit(0, parts.deletions).await?;
    }
    writer.flush().await?;
    bar.finish_and_clear();
    kept += writer.take_rejected().len() as u64;
    Ok(Deleted { deleted: writer.settled() - kept, kept })
}
