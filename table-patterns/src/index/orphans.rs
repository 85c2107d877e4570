//! Collection of blobs of lists that no entity names.

use object_store::ObjectStoreExt;
use object_store::path::Path;
use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::Select;
use table_core::schema::IndexKind;
use table_core::store::TableStore;
use table_core::value::ValueRef;

use crate::blob::{BlobRef, Collected, InBlobs, Naming, Orphans, decode_caseless, is_hashed};
use crate::entities::{Entities, StepRecorder};
use crate::index::list::fault::ListFault;
use crate::index::list::{ListBlobs, content};

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Removes blobs of lists that no entity has named for a grace period, and marks those seen for the first time. Run it now
    /// and then: each change of a list in a blob leaves the blob from before.
    ///
    /// Safe beside writers, readers and other collectors; stopped anywhere, the next run goes on. Blobs whose names are none of
    /// ours are left alone.
    ///
    /// # Errors
    /// `InvalidInput` if the table was given no [`ListBlobs`]; those of the table and of the store of blobs.
    pub async fn collect_orphaned_lists(&self) -> Result<Collected> {
        let Some(blobs) = self.list_blobs() else {
            return Err(Error::of(ListFault::NoBlobs));
        };
        let lists = E::SCHEMA.indexes.iter().filter(|index| index.kind == IndexKind::List);
        let mut tables: Vec<TableName> = lists.map(|index| self.table_of(index)).collect::<Result<_>>()?;
        // Several indexes of one table have their blobs in one folder.
        tables.sort_by_key(|table| table.as_str().to_ascii_lowercase());
        tables.dedup();
        let mut collected = Collected::default();
        for table in tables {
            let orphans = Orphans {
                blobs: blobs.blobs.as_ref(),
                folder: blobs.folder("lists", &table)?,
                marks: blobs.folder("orphans", &table)?,
                now: self.retry.runtime().now(),
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
    /// The key of the list, if the name says it.
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
            let found = self.blobs.blobs.get(path).await.in_blob(path)?;
            match content::place(&found.bytes().await.in_blob(path)?) {
                Ok((table, key)) if table == *self.table => key,
                // It is not known whose it is: it stays.
                _ => return Ok(true),
            }
        };
        let Some(found) = self.store.get(self.table, &key, &Select::All).await? else { return Ok(false) };
        // Whatever the property: the list may be of another type's index, or of one that was renamed.
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
