//! Deletes the rows that a query selects, with one transaction per group of rows.

use table_core::query::Select;
use table_core::{DynTableStore, FromEntity, IfMatch, TableEntity, TableName};

use crate::failure::Result;
use crate::rows::{Pages, Selected};
use crate::transfer::progress;
use crate::transfer::writer::{Change, Mode, Writer};

/// The numbers of rows that a deletion has deleted and kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The number of rows that this command deleted or that were already deleted.
    pub deleted: u64,
    /// The number of rows that were kept because they had changed since they were read.
    pub kept: u64,
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
    let selected = selected.with_select(Select::names(["PartitionKey", "RowKey"]));
    let mut writer = Writer::new(store.clone(), name.clone(), Mode::Replace, rate).tolerant();
    let mut pages = Pages::new(store, name, selected);
    let (mut kept, bar) = (0, progress::rows("deleted"));
    while let Some(page) = pages.next().await? {
        for entity in page.rows.iter() {
            let condition = if in_any_version { IfMatch::Any } else { IfMatch::ETag(entity.etag()) };
            let entity = TableEntity::from_entity(entity)?;
            writer.push(0, Change::Delete(entity.key().clone(), condition)).await?;
        }
        kept += writer.take_rejected().len() as u64;
        bar.set_position(writer.settled());
    }
    writer.flush().await?;
    bar.finish_and_clear();
    kept += writer.take_rejected().len() as u64;
    Ok(Deleted { deleted: writer.settled() - kept, kept })
}
