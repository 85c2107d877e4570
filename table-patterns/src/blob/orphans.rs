//! Garbage collection of orphaned blobs, to which no entity refers. Orphans are first marked, and removed after a grace period.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use table_core::Result;
use table_core::runtime::ticks_of;

use crate::blob::InBlobs;

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

/// A check whether an entity refers to a blob. Each kind of blob implements it.
pub(crate) trait Naming {
    /// The entity that may refer to a blob. The blob's name determines it.
    type Of: Send + Sync;

    /// Parses the segments of a blob's name between the folder and the last segment. Returns `None` if the name has a different format.
    fn of(&self, segments: &[String]) -> Option<Self::Of>;

    /// Returns `true` if the blob is in use, which means that an entity currently refers to it.
    fn is_named(&self, path: &Path, of: &Self::Of) -> impl Future<Output = Result<bool>> + Send;
}

/// The garbage collector for the blobs in one folder. The last segment of a blob's name begins with the creation time and the writer's grace period.
pub(crate) struct Orphans<'a, N> {
    pub(crate) blobs: &'a dyn ObjectStore,
    /// The folder that contains the blobs.
    pub(crate) folder: Path,
    /// The folder that contains the marks of orphans.
    pub(crate) marks: Path,
    /// Returns the current time, in ticks.
    pub(crate) now: &'a (dyn Fn() -> u64 + Send + Sync),
    /// The minimum grace period. If a blob's name contains a longer one, the blob is kept for that period.
    pub(crate) grace: Duration,
    pub(crate) naming: N,
}

/// The time when the upload of a blob started, and its grace period, both in ticks. The blob is kept for this period even if no entity refers to it.
#[derive(Clone, Copy)]
struct Claim {
    born: u64,
    grace: u64,
}

impl<N: Naming + Sync> Orphans<'_, N> {
    /// Removes blobs to which no entity has referred for a grace period, and marks newly found orphans.
    pub(crate) async fn collect(&self) -> Result<Collected> {
        let mut marks = self.marks().await?;
        let mut collected = Collected::default();
        let mut listing = self.blobs.list(Some(&self.folder));
        while let Some(meta) = listing.try_next().await.in_blob(&self.folder)? {
            let Some((of, claim)) = self.read(&meta.location) else { continue };
            let marked = marks.remove(&self.mark_of(&meta.location)).unwrap_or_default();
            self.judge(&meta.location, &of, claim, &marked, &mut collected).await?;
        }
        // The remaining marks belong to blobs that no longer exist. An earlier run was interrupted after it deleted the blob and before it deleted the marks.
        for marks in marks.into_values() {
            self.unmark(&marks).await?;
        }
        Ok(collected)
    }

    /// Parses the name of a blob. Returns the entity that may refer to the blob, the upload time and the grace period. Returns `None` if the name has a
    /// different format.
    fn read(&self, path: &Path) -> Option<(N::Of, Claim)> {
        let segments = path.prefix_match(&self.folder)?;
        let segments: Vec<String> = segments.map(|segment| segment.as_ref().to_owned()).collect();
        let (name, of) = segments.split_last()?;
        let (born, rest) = name.split_once('_')?;
        let (named, _) = rest.split_once('_')?;
        let claim = Claim { born: born.parse().ok()?, grace: ticks_of(self.grace).max(named.parse().ok()?) };
        Some((self.naming.of(of)?, claim))
    }

    async fn judge(
        &self,
        path: &Path,
        of: &N::Of,
        Claim { born, grace }: Claim,
        marks: &[(Path, u64)],
        collected: &mut Collected,
    ) -> Result<()> {
        let now = (self.now)();
        if born.saturating_add(grace) > now {
            collected.kept += 1;
            return Ok(());
        }
        if self.naming.is_named(path, of).await? {
            collected.kept += 1;
            return self.unmark(marks).await;
        }
        // If several collectors have marked the blob, the latest mark is used.
        match marks.iter().map(|(_, since)| since.saturating_add(grace)).max() {
            None => {
                // The entity may have dropped its reference at any time before it was read, possibly long after the run started. The mark therefore contains
                // the current time.
                let mark = self.mark_of(path).join(format!("{:019}", (self.now)()));
                self.blobs.put(&mark, PutPayload::new()).await.in_blob(&mark)?;
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
        let mut listing = self.blobs.list(Some(&self.marks));
        while let Some(meta) = listing.try_next().await.in_blob(&self.marks)? {
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
        blob.prefix_match(&self.folder).into_iter().flatten().fold(self.marks.clone(), Path::join)
    }

    async fn unmark(&self, marks: &[(Path, u64)]) -> Result<()> {
        for (path, _) in marks {
            self.remove(path).await?;
        }
        Ok(())
    }

    /// Removes a blob. Succeeds even if it no longer exists.
    async fn remove(&self, path: &Path) -> Result<()> {
        match self.blobs.delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error).in_blob(path),
        }
    }
}
