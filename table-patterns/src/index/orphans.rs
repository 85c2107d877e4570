//! Collects orphaned list blobs, to which no entity refers.

use table_core::entity::Entity;
use table_core::name::TableName;
use table_core::schema::IndexKind;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::blob::{Collected, Orphans};
use crate::entities::{Entities, StepRecorder};
use crate::index::list::fault::ListFault;

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Removes list blobs that have been unreferenced for a grace period, and marks newly found orphaned blobs. Call this function periodically, because each
    /// change to a list in a blob leaves the previous blob behind.
    ///
    /// This function may run concurrently with writers, readers and other collectors. After an interruption, run it again: existing marks are used. Blobs whose
    /// names have a different format are ignored.
    ///
    /// # Errors
    /// `InvalidInput` if the table has no [`ListBlobs`](crate::index::ListBlobs); any error from the table or the blob store.
    pub async fn collect_orphaned_lists(&self) -> Result<Collected> {
        let Some(blobs) = self.list_blobs() else {
            return Err(Error::of(ListFault::NoBlobs));
        };
        let lists = E::SCHEMA.indexes.iter().filter(|index| index.kind == IndexKind::List);
        let mut tables: Vec<TableName> = lists.map(|index| self.table_of(index)).collect::<Result<_>>()?;
        // Several indexes may share a table, and then also a blob folder.
        tables.sort_by_key(|table| table.folded().to_owned());
        tables.dedup();
        let mut collected = Collected::default();
        for table in tables {
            let (folder, store) = (blobs.store.folder(&table)?, self.table.store());
            let orphans = Orphans { folder, store, now: &|| self.retry.runtime().now() };
            let found = orphans.collect().await?;
            collected.kept += found.kept;
            collected.marked += found.marked;
            collected.removed += found.removed;
        }
        Ok(collected)
    }
}
