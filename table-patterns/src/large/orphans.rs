//! Orphans: blobs that no entity names, marked first, removed a grace period later.

use std::collections::BTreeMap;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use table_core::error::Result;
use table_core::key::EntityKey;
use table_core::query::EntityRef;
use table_core::store::TableStore;

use crate::blob::{InBlobs, decode};
use crate::large::{Large, LargeTable};

/// What a collection found and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Blobs that an entity names, and blobs too young to be judged.
    pub kept: u64,
    /// Orphans seen for the first time, or not long enough ago.
    pub marked: u64,
    /// Orphans removed.
    pub removed: u64,
}

/// A blob below the folder of the table.
struct Found {
    path: Path,
    key: EntityKey,
    born: u64,
}

impl<E: Large, S: TableStore> LargeTable<E, S> {
    /// Removes blobs that no entity has named for a grace period, and marks those seen for the first time. Run it now and then.
    ///
    /// Safe beside writers, readers and other collectors; stopped anywhere, the next run goes on. Blobs whose names are none of
    /// ours are left alone.
    ///
    /// # Errors
    /// Those of the table and of the store of blobs. `TableNotFound` is one: a wrong name must not make everything an orphan.
    pub async fn collect_orphans(&self) -> Result<Collected> {
        let mut marks = self.marks().await?;
        let mut collected = Collected::default();
        let folder = self.folder("blobs")?;
        let mut listing = self.blobs.list(Some(&folder));
        while let Some(meta) = listing.try_next().await.in_blob(&folder)? {
            let Some(found) = found(&folder, meta.location) else { continue };
            let marked = marks.remove(&self.mark_of(&folder, &found.path)?).unwrap_or_default();
            self.judge(&found, &marked, &mut collected).await?;
        }
        // What is left marks blobs that are gone: a run was stopped between the two.
        for marks in marks.into_values() {
            self.unmark(&marks).await?;
        }
        Ok(collected)
    }

    async fn judge(&self, found: &Found, marks: &[(Path, u64)], collected: &mut Collected) -> Result<()> {
        let (now, grace) = (self.clock.now(), self.grace_ticks());
        if found.born.saturating_add(grace) > now {
            collected.kept += 1;
            return Ok(());
        }
        if self.is_named(found).await? {
            collected.kept += 1;
            return self.unmark(marks).await;
        }
        // Of the marks of several collectors the last one counts.
        match marks.iter().map(|(_, since)| since.saturating_add(grace)).max() {
            None => {
                let mark = self.mark_of(&self.folder("blobs")?, &found.path)?.join(format!("{now:019}"));
                self.blobs.put(&mark, PutPayload::new()).await.in_blob(&mark)?;
                collected.marked += 1;
            }
            Some(until) if until > now => collected.marked += 1,
            Some(_) => {
                // The blob first: a mark without a blob is removed by the next run.
                self.remove(&found.path).await?;
                self.unmark(marks).await?;
                collected.removed += 1;
            }
        }
        Ok(())
    }

    async fn is_named(&self, found: &Found) -> Result<bool> {
        let (store, table) = (self.table.store(), self.table.name()?);
        let Some(stored) = store.get(table, &found.key, &E::select()).await? else { return Ok(false) };
        let (partition_key, row_key) = (found.key.partition_key.as_str(), found.key.row_key.as_str());
        let entity = E::from_entity(EntityRef::new(partition_key, row_key, stored.row.view()))
            .map_err(|error| error.with_table(table.as_str()).with_key(partition_key, row_key))?;
        Ok(entity.blob().is_some_and(|blob| blob.path() == found.path.as_ref()))
    }

    /// The marks of each blob, with when they were made.
    async fn marks(&self) -> Result<BTreeMap<Path, Vec<(Path, u64)>>> {
        let folder = self.folder("orphans")?;
        let mut marks: BTreeMap<Path, Vec<(Path, u64)>> = BTreeMap::new();
        let mut listing = self.blobs.list(Some(&folder));
        while let Some(meta) = listing.try_next().await.in_blob(&folder)? {
            let path = meta.location;
            let since = path.filename().and_then(|name| name.parse().ok());
            if let (Some(since), Some(of)) = (since, path.parent()) {
                marks.entry(of).or_default().push((path, since));
            }
        }
        Ok(marks)
    }

    /// Where the marks of a blob are.
    fn mark_of(&self, blobs: &Path, blob: &Path) -> Result<Path> {
        let folder = self.folder("orphans")?;
        Ok(blob.prefix_match(blobs).into_iter().flatten().fold(folder, Path::join))
    }

    async fn unmark(&self, marks: &[(Path, u64)]) -> Result<()> {
        for (path, _) in marks {
            self.remove(path).await?;
        }
        Ok(())
    }

    /// Removes a blob; one that is gone already is none the less.
    async fn remove(&self, path: &Path) -> Result<()> {
        match self.blobs.delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error).in_blob(path),
        }
    }
}

/// Reads the name of a blob; `None` if it is none of ours.
fn found(folder: &Path, path: Path) -> Option<Found> {
    let parts: Vec<String> = path.prefix_match(folder)?.map(|part| part.as_ref().to_owned()).collect();
    let [partition, row, name] = parts.as_slice() else { return None };
    let key = EntityKey::new(decode(partition)?, decode(row)?).ok()?;
    let born = name.split_once('_')?.0.parse().ok()?;
    Some(Found { path, key, born })
}
