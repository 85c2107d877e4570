//! Orphans: blobs that no entity names, marked first, removed a grace period later.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use table_core::error::Result;
use table_core::runtime::ticks_of;

use crate::blob::InBlobs;

/// What a collection found and did.
///
/// ```
/// use table_patterns::large::Collected;
///
/// /// Whether another collection, after the grace period, has something to remove.
/// fn is_due_again(collected: Collected) -> bool {
///     collected.marked > 0
/// }
/// assert!(!is_due_again(Collected::default()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Blobs that an entity names, and blobs too young to be judged.
    pub kept: u64,
    /// Orphans seen for the first time, or not long enough ago.
    pub marked: u64,
    /// Orphans removed.
    pub removed: u64,
}

/// The entities or lists that name blobs.
pub(crate) trait Naming {
    /// What the name of a blob says of the entity that may name it.
    type Of: Send + Sync;

    /// Reads the segments of a name below the folder, without the last one; `None` if it is none of ours.
    fn of(&self, segments: &[String]) -> Option<Self::Of>;

    /// Whether an entity names the blob now.
    fn is_named(&self, path: &Path, of: &Self::Of) -> impl Future<Output = Result<bool>> + Send;
}

/// A collection of the blobs below a folder. The last segment of their names begins with the instant of their birth.
pub(crate) struct Orphans<'a, N> {
    pub(crate) blobs: &'a dyn ObjectStore,
    /// Where the blobs are.
    pub(crate) folder: Path,
    /// Where their marks are.
    pub(crate) marks: Path,
    /// The present instant.
    pub(crate) now: u64,
    pub(crate) grace: Duration,
    pub(crate) naming: N,
}

impl<N: Naming + Sync> Orphans<'_, N> {
    /// Removes blobs that no entity has named for a grace period, and marks those seen for the first time.
    pub(crate) async fn collect(&self) -> Result<Collected> {
        let mut marks = self.marks().await?;
        let mut collected = Collected::default();
        let mut listing = self.blobs.list(Some(&self.folder));
        while let Some(meta) = listing.try_next().await.in_blob(&self.folder)? {
            let Some((of, born)) = self.read(&meta.location) else { continue };
            let marked = marks.remove(&self.mark_of(&meta.location)).unwrap_or_default();
            self.judge(&meta.location, &of, born, &marked, &mut collected).await?;
        }
        // What is left marks blobs that are gone: a run was stopped between the two.
        for marks in marks.into_values() {
            self.unmark(&marks).await?;
        }
        Ok(collected)
    }

    /// Reads the name of a blob; `None` if it is none of ours.
    fn read(&self, path: &Path) -> Option<(N::Of, u64)> {
        let segments = path.prefix_match(&self.folder)?;
        let segments: Vec<String> = segments.map(|segment| segment.as_ref().to_owned()).collect();
        let (name, of) = segments.split_last()?;
        Some((self.naming.of(of)?, name.split_once('_')?.0.parse().ok()?))
    }

    async fn judge(
        &self,
        path: &Path,
        of: &N::Of,
        born: u64,
        marks: &[(Path, u64)],
        collected: &mut Collected,
    ) -> Result<()> {
        let (now, grace) = (self.now, ticks_of(self.grace));
        if born.saturating_add(grace) > now {
            collected.kept += 1;
            return Ok(());
        }
        if self.naming.is_named(path, of).await? {
            collected.kept += 1;
            return self.unmark(marks).await;
        }
        // Of the marks of several collectors the last one counts.
        match marks.iter().map(|(_, since)| since.saturating_add(grace)).max() {
            None => {
                let mark = self.mark_of(path).join(format!("{now:019}"));
                self.blobs.put(&mark, PutPayload::new()).await.in_blob(&mark)?;
                collected.marked += 1;
            }
            Some(until) if until > now => collected.marked += 1,
            Some(_) => {
                // The blob first: a mark without a blob is removed by the next run.
                self.remove(path).await?;
                self.unmark(marks).await?;
                collected.removed += 1;
            }
        }
        Ok(())
    }

    /// The marks of each blob, with when they were made.
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

    /// Where the marks of a blob are.
    fn mark_of(&self, blob: &Path) -> Path {
        blob.prefix_match(&self.folder).into_iter().flatten().fold(self.marks.clone(), Path::join)
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
