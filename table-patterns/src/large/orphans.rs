//! Which blobs the entities of a table name: what the collector of orphans asks.

use object_store::path::Path;
use table_core::error::Result;
use table_core::key::EntityKey;
use table_core::query::EntityRef;
use table_core::store::TableStore;

use crate::blob::{Collected, Naming, Orphans, decode};
use crate::large::{Large, LargeTable};

impl<E: Large, S: TableStore> LargeTable<E, S> {
    /// Removes blobs that no entity has named for a grace period, and marks those seen for the first time. Run it now and then.
    ///
    /// Safe beside writers, readers and other collectors; stopped anywhere, the next run goes on. Blobs whose names are none of
    /// ours are left alone.
    ///
    /// # Errors
    /// Those of the table and of the store of blobs. `TableNotFound` is one: a wrong name must not make everything an orphan.
    pub async fn collect_orphans(&self) -> Result<Collected> {
        let orphans = Orphans {
            blobs: self.blobs.as_ref(),
            folder: self.folder("blobs")?,
            marks: self.folder("orphans")?,
            now: self.clock.now(),
            grace: self.grace,
            naming: Named(self),
        };
        orphans.collect().await
    }
}

struct Named<'a, E, S>(&'a LargeTable<E, S>);

impl<E: Large, S: TableStore> Naming for Named<'_, E, S> {
    type Of = EntityKey;

    fn of(&self, segments: &[String]) -> Option<EntityKey> {
        let [partition, row] = segments else { return None };
        EntityKey::new(decode(partition)?, decode(row)?).ok()
    }

    async fn is_named(&self, path: &Path, key: &EntityKey) -> Result<bool> {
        let (store, table) = (self.0.table.store(), self.0.table.name()?);
        let Some(stored) = store.get(table, key, &E::select()).await? else { return Ok(false) };
        let (partition_key, row_key) = (key.partition_key.as_str(), key.row_key.as_str());
        let entity = E::from_entity(EntityRef::new(partition_key, row_key, stored.row.view()))
            .map_err(|error| error.with_table(table.as_str()).with_key(partition_key, row_key))?;
        Ok(entity.blob().is_some_and(|blob| blob.path() == path.as_ref()))
    }
}
