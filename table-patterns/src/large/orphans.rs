//! Finds the blobs to which the entities of a table refer, for the collector of orphaned blobs.

use object_store::path::Path;
use table_core::key::EntityKey;
use table_core::query::Select;
use table_core::store::TableStore;
use table_core::{Result, ValueRef};

use crate::blob::{Collected, Naming, Orphans, decode, spellings};
use crate::entities::StepRecorder;
use crate::large::{Large, LargeTable};
use crate::omitted;

impl<E: Large + Send + Sync, S: TableStore, O: StepRecorder> LargeTable<E, S, O> {
    /// Removes blobs that have been unreferenced for a grace period, and marks newly found orphans. Call this function periodically.
    ///
    /// This function may run concurrently with writers, readers and other collectors. After an interruption, simply run it again: existing marks are used.
    ///
    /// A blob is in use if any property of its entity contains its address. Blobs of fields that this program does not know are therefore kept, and so are the
    /// blobs of an unreadable entity. Blobs whose names have a different format are ignored.
    ///
    /// # Errors
    /// Any error from the table or the blob store. A missing table is also an error, because a wrong table name must not turn all blobs into orphans.
    pub async fn collect_orphans(&self) -> Result<Collected> {
        let blobs = self.blobs.as_ref();
        let mut collected = Collected::default();
        for (folder, marks) in spellings(blobs, &self.folder("blobs")?, &self.folder("orphans")?).await? {
            let (now, grace, naming) = (&|| self.clock.now(), self.grace, Named(self));
            let Collected { kept, marked, removed } =
                Orphans { blobs, folder, marks, now, grace, naming }.collect().await?;
            collected.kept += kept;
            collected.marked += marked;
            collected.removed += removed;
        }
        Ok(collected)
    }
}

struct Named<'a, E, S, O>(&'a LargeTable<E, S, O>);

impl<E: Large, S: TableStore, O: StepRecorder> Naming for Named<'_, E, S, O> {
    type Of = EntityKey;

    fn of(&self, segments: &[String]) -> Option<EntityKey> {
        let [partition, row] = segments else { return None };
        EntityKey::new(decode(partition)?, decode(row)?).ok()
    }

    /// Returns `true` if a property of the entity contains the blob's address. Checks all stored properties, because another version of the program may declare
    /// other blobs.
    async fn is_named(&self, path: &Path, key: &EntityKey) -> Result<bool> {
        let (store, table) = (self.0.table().store(), self.0.table().name()?);
        let stored = match store.get(table, key, &Select::All).await {
            // The entity cannot be read, and may contain the address. The blob is therefore kept.
            Err(error) if omitted::is_unreadable(&error) => return Ok(true),
            stored => stored?,
        };
        let Some(stored) = stored else { return Ok(false) };
        for property in stored.row.view().properties() {
            if let ValueRef::String(text) = property?.value
                && text.contains(path.as_ref())
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
