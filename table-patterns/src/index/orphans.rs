//! Collects orphaned list blobs, to which no entity refers.

use object_store::ObjectStoreExt;
use object_store::path::Path;
use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::Select;
use table_core::schema::IndexKind;
use table_core::store::TableStore;
use table_core::{Error, Result, ValueRef};

use crate::blob::{BlobRef, Collected, InBlobs, Naming, Orphans, decode_caseless, is_hashed};
use crate::entities::{Entities, StepRecorder};
use crate::index::list::fault::ListFault;
use crate::index::list::{ListBlobs, content};
use crate::omitted;

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Removes list blobs that have been unreferenced for a grace period, and marks newly found orphaned blobs. Call this function periodically, because each
    /// change to a list in a blob leaves the previous blob behind.
    ///
    /// This function may run concurrently with writers, readers and other collectors. After an interruption, run it again: existing marks are used. Blobs whose
    /// names have a different format are ignored.
    ///
    /// # Errors
    /// `InvalidInput` if the table has no [`ListBlobs`]; any error from the table or the blob store.
    pub async fn collect_orphaned_lists(&self) -> Result<Collected> {
        let Some(blobs) = self.list_blobs() else {
            return Err(Error::of(ListFault::NoBlobs));
        };
        let lists = E::SCHEMA.indexes.iter().filter(|index| index.kind == IndexKind::List);
        let mut tables: Vec<TableName> = lists.map(|index| self.table_of(index)).collect::<Result<_>>()?;
        // Several indexes may share a table, and then also a blob folder.
        tables.sort_by_key(|table| table.as_str().to_ascii_lowercase());
        tables.dedup();
        let mut collected = Collected::default();
        for table in tables {
            let orphans = Orphans {
                blobs: blobs.blobs.as_ref(),
                folder: blobs.folder("lists", &table)?,
                marks: blobs.folder("orphans", &table)?,
                now: &|| self.retry.runtime().now(),
                grace: blobs.grace,
                naming: Named { store: self.table.store(), table: &table, blobs },
            };
            let found = orphans.collect().await?;
            collected.kept += found.kept;
            collected.marked += found.marked;
            collected.removed += found.removed;
        }
        Ok(collected)
    }
}

struct Named<'a, S> {
    store: &'a S,
    table: &'a TableName,
    blobs: &'a ListBlobs,
}

impl<S: TableStore> Naming for Named<'_, S> {
    /// The key of a blob's list. `None` if the blob's name contains only a hash of it.
    type Of = Option<EntityKey>;

    fn of(&self, segments: &[String]) -> Option<Option<EntityKey>> {
        let [partition, row] = segments else { return None };
        if is_hashed(partition) || is_hashed(row) {
            return Some(None);
        }
        EntityKey::new(decode_caseless(partition)?, decode_caseless(row)?).ok().map(Some)
    }

    async fn is_named(&self, path: &Path, of: &Option<EntityKey>) -> Result<bool> {
        let key = if let Some(key) = of {
            key.clone()
        } else {
            let found = match self.blobs.blobs.get(path).await {
                // Another collector has removed the blob.
                Err(object_store::Error::NotFound { .. }) => return Ok(false),
                found => found.in_blob(path)?,
            };
            match content::place(&found.bytes().await.in_blob(path)?) {
                Ok((table, key)) if table == *self.table => key,
                // It is not known which list owns the blob, so the blob is kept.
                _ => return Ok(true),
            }
        };
        let found = match self.store.get(self.table, &key, &Select::All).await {
            // The list's entity cannot be read. It may refer to the blob, so the blob is kept.
            Err(error) if omitted::is_unreadable(&error) => return Ok(true),
            found => found?,
        };
        let Some(found) = found else { return Ok(false) };
        // Every property is checked, because the list may belong to an index of another type, or to an index that has been renamed.
        for property in found.row.view().properties() {
            if let ValueRef::String(text) = property?.value
                && text.parse::<BlobRef>().is_ok_and(|blob| blob.path() == path.as_ref())
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
