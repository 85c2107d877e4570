//! Garbage collection of orphaned blobs, to which no entity refers. Orphans are first marked, and removed after a grace period.

use std::collections::BTreeMap;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use table_core::key::EntityKey;
use table_core::query::Select;
use table_core::runtime::ticks_of;
use table_core::store::TableStore;
use table_core::{Result, ValueRef};

use crate::blob::name::is_hashed;
use crate::blob::{BlobFolder, InBlobs};
use crate::omitted;

/// The result of an orphan collection.
///
/// ```
/// use table_patterns::large::Collected;
///
/// /// Returns `true` if a collection after the grace period has something to remove.
/// fn is_due_again(collected: Collected) -> bool {
///     collected.marked > 0
/// }
/// assert!(!is_due_again(Collected::default()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// The number of blobs that were kept, because they are in use or not older than the grace period.
    pub kept: u64,
    /// The number of orphans that are marked but not yet removed.
    pub marked: u64,
    /// The number of orphans that were removed.
    pub removed: u64,
}

/// The garbage collector for the blobs of one table. The last segment of a blob's name begins with the creation time and the writer's grace period.
pub(crate) struct Orphans<'a, S> {
    pub(crate) folder: BlobFolder,
    /// The table store with the entities that may refer to the blobs.
    pub(crate) store: &'a S,
    /// Returns the current time, in ticks.
    pub(crate) now: &'a (dyn Fn() -> u64 + Send + Sync),
}

/// The time when the upload of a blob started, and its grace period, both in ticks. The blob is kept for this period even if no entity refers to it.
#[derive(Clone, Copy)]
struct Claim {
    born: u64,
    grace: u64,
}

impl<S: TableStore> Orphans<'_, S> {
    /// Removes blobs to which no entity has referred for a grace period, and marks newly found orphans.
    pub(crate) async fn collect(&self) -> Result<Collected> {
        let mut marks = self.marks().await?;
        let mut collected = Collected::default();
        let folder = &self.folder.values;
        let mut listing = self.blobs().list(Some(folder));
        while let Some(meta) = listing.try_next().await.in_blob(folder)? {
            let Some((of, claim)) = self.read(&meta.location) else { continue };
            let marked = marks.remove(&self.mark_of(&meta.location)).unwrap_or_default();
            self.judge(&meta.location, of.as_ref(), claim, &marked, &mut collected).await?;
        }
        // The remaining marks belong to blobs that no longer exist. An earlier run was interrupted after it deleted the blob and before it deleted the marks.
        for marks in marks.into_values() {
            self.unmark(&marks).await?;
        }
        Ok(collected)
    }

    fn blobs(&self) -> &dyn ObjectStore {
        self.folder.store.blobs.as_ref()
    }

    /// Parses the name of a blob. Returns the key of the row that may refer to the blob, the upload time and the grace period. The key is `None` if the name
    /// contains only a hash of it. Returns `None` if the name has a different format.
    fn read(&self, path: &Path) -> Option<(Option<EntityKey>, Claim)> {
        let segments = path.prefix_match(&self.folder.values)?;
        let segments: Vec<String> = segments.map(|segment| segment.as_ref().to_owned()).collect();
        let (name, of) = segments.split_last()?;
        let (born, rest) = name.split_once('_')?;
        let (named, _) = rest.split_once('_')?;
        let grace = ticks_of(self.folder.store.grace).max(named.parse().ok()?);
        let claim = Claim { born: born.parse().ok()?, grace };
        let [partition, row] = of else { return None };
        let kind = self.folder.store.kind;
        if kind.row_in.is_some() && (is_hashed(partition) || is_hashed(row)) {
            return Some((None, claim));
        }
        let key = EntityKey::new(kind.decode(partition)?, kind.decode(row)?).ok()?;
        Some((Some(key), claim))
    }

    async fn judge(
        &self,
        path: &Path,
        of: Option<&EntityKey>,
        Claim { born, grace }: Claim,
        marks: &[(Path, u64)],
        collected: &mut Collected,
    ) -> Result<()> {
        let now = (self.now)();
        if born.saturating_add(grace) > now {
            collected.kept += 1;
            return Ok(());
        }
        if self.is_named(path, of).await? {
            collected.kept += 1;
            return self.unmark(marks).await;
        }
        // If several collectors have marked the blob, the latest mark is used.
        match marks.iter().map(|(_, since)| since.saturating_add(grace)).max() {
            None => {
                // The entity may have dropped its reference at any time before it was read, possibly long after the run started. The mark therefore contains
                // the current time.
                let mark = self.mark_of(path).join(format!("{:019}", (self.now)()));
                self.blobs().put(&mark, PutPayload::new()).await.in_blob(&mark)?;
                collected.marked += 1;
            }
            Some(until) if until > now => collected.marked += 1,
            Some(_) => {
                // The blob is removed first. If the run is then interrupted, the next run removes the mark.
                self.remove(path).await?;
                self.unmark(marks).await?;
                collected.removed += 1;
            }
        }
        Ok(())
    }

    /// Returns all marks with their times, grouped by folder. Each folder contains the marks of one orphan.
    async fn marks(&self) -> Result<BTreeMap<Path, Vec<(Path, u64)>>> {
        let mut marks: BTreeMap<Path, Vec<(Path, u64)>> = BTreeMap::new();
        let mut listing = self.blobs().list(Some(&self.folder.marks));
        while let Some(meta) = listing.try_next().await.in_blob(&self.folder.marks)? {
            let path = meta.location;
            let since = path.filename().and_then(|name| name.parse().ok());
            if let (Some(since), Some(of)) = (since, path.parent()) {
                marks.entry(of).or_default().push((path, since));
            }
        }
        Ok(marks)
    }

    /// Returns the folder that contains the marks of a blob.
    fn mark_of(&self, blob: &Path) -> Path {
        blob.prefix_match(&self.folder.values)
            .into_iter()
            .flatten()
            .fold(self.folder.marks.clone(), Path::join)
    }

    /// Returns `true` if the blob is in use, which means that a row currently refers to it. Checks all stored properties of the row, because another version of
    /// the program may declare other blobs, or lists of an index of another type or name.
    async fn is_named(&self, path: &Path, of: Option<&EntityKey>) -> Result<bool> {
        let key = match (of, self.folder.store.kind.row_in) {
            (Some(key), _) => key.clone(),
            (None, None) => return Ok(true),
            (None, Some(row_in)) => {
                let found = match self.blobs().get(path).await {
                    // Another collector has removed the blob.
                    Err(object_store::Error::NotFound { .. }) => return Ok(false),
                    found => found.in_blob(path)?,
                };
                match row_in(&found.bytes().await.in_blob(path)?) {
                    Ok((table, key)) if table == self.folder.table => key,
                    // It is not known which row owns the blob, so the blob is kept.
                    _ => return Ok(true),
                }
            }
        };
        let found = match self.store.get(&self.folder.table, &key, &Select::All).await {
            // The row cannot be read. It may refer to the blob, so the blob is kept.
            Err(error) if omitted::is_unreadable(&error) => return Ok(true),
            found => found?,
        };
        let Some(found) = found else { return Ok(false) };
        for property in found.row.view().properties() {
            if let ValueRef::String(text) = property?.value
                && text.contains(path.as_ref())
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn unmark(&self, marks: &[(Path, u64)]) -> Result<()> {
        for (path, _) in marks {
            self.remove(path).await?;
        }
        Ok(())
    }

    /// Removes a blob. Succeeds even if it no longer exists.
    async fn remove(&self, path: &Path) -> Result<()> {
        match self.blobs().delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error).in_blob(path),
        }
    }
}

#[cfg(test)]
mod tests;
