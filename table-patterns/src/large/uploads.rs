//! Blob uploads of one entity write. They precede the write, and are removed if the write has definitely failed.

use object_store::ObjectStoreExt;
use object_store::path::Path;
use table_core::key::EntityKey;
use table_core::{Error, Result};
use uuid::Uuid;

use crate::blob::upload;
use crate::large::fault::LargeFault;
use crate::large::own::segments;
use crate::large::{Blob, BlobRef, Content, Large, LargeTable};

/// The blobs uploaded for one write.
pub(super) struct Uploads<E> {
    /// The time, in ticks, at which the first upload started.
    born: u64,
    blobs: Vec<(Blob<E>, BlobRef, Path)>,
}

impl<E> Uploads<E> {
    pub(super) fn is_empty(&self) -> bool {
        self.blobs.is_empty()
    }

    /// Returns the uploaded blobs, with their new addresses.
    pub(super) fn addresses(&self) -> impl Iterator<Item = (Blob<E>, &BlobRef)> {
        self.blobs.iter().map(|(blob, address, _)| (*blob, address))
    }

    /// Returns `true` if new content has been uploaded for the blob.
    pub(super) fn has(&self, blob: Blob<E>) -> bool {
        self.blobs.iter().any(|(uploaded, ..)| uploaded.property() == blob.property())
    }
}

impl<E: Large, S, O> LargeTable<E, S, O> {
    /// Uploads contents in order. If an upload fails, removes the blobs that have already been uploaded.
    pub(super) async fn upload(
        &self,
        key: &EntityKey,
        contents: impl IntoIterator<Item = Content<'_, E>>,
    ) -> Result<Uploads<E>> {
        let contents: Vec<_> = contents.into_iter().collect();
        self.check_contents(&contents)?;
        let mut uploads = Uploads { born: self.clock.now(), blobs: Vec::with_capacity(contents.len()) };
        for Content { blob, stream } in contents {
            let path = self.new_name(key, uploads.born)?;
            match upload(self.blobs.as_ref(), path.clone(), self.part, stream).await {
                Ok(address) => uploads.blobs.push((blob, address, path)),
                Err(error) => {
                    self.take_back(&uploads).await;
                    return Err(error);
                }
            }
        }
        Ok(uploads)
    }

    /// Checks that no blob gets new content twice.
    fn check_contents(&self, contents: &[Content<'_, E>]) -> Result<()> {
        for (at, content) in contents.iter().enumerate() {
            let name = content.blob.property();
            if contents.iter().take(at).any(|earlier| earlier.blob.property() == name) {
                return Err(self.refuse(LargeFault::TwoContents).with_property(name));
            }
        }
        Ok(())
    }

    /// Checks that the uploads took at most half of the grace period. After that time, the collector may have removed the blobs.
    pub(super) fn in_time(&self, uploads: &Uploads<E>) -> Result<()> {
        if self.clock.now().saturating_sub(uploads.born) > self.grace_ticks() / 2 {
            return Err(self.refuse(LargeFault::Slow));
        }
        Ok(())
    }

    /// Returns the outcome of the entity's write. If the write has definitely failed, first removes the uploaded blobs.
    pub(super) async fn settle<T>(&self, uploads: &Uploads<E>, written: Result<T>) -> Result<T> {
        if let Err(error) = &written
            // If the outcome is unknown, an entity may refer to the blobs, so they are left to the collector.
            && !error.is_ambiguous()
        {
            self.take_back(uploads).await;
        }
        written
    }

    /// Removes the uploaded blobs, to which no entity refers. If this fails, the collector removes them later.
    async fn take_back(&self, uploads: &Uploads<E>) {
        for (.., path) in &uploads.blobs {
            let _ = self.blobs.delete(path).await;
        }
    }

    /// Returns a unique name for a new blob of the entity. The name contains this handle's grace period, so collectors with a shorter period also wait for the
    /// full period.
    fn new_name(&self, key: &EntityKey, born: u64) -> Result<Path> {
        let [partition, row] = segments(key);
        let name = format!("{born:019}_{}_{}", self.grace_ticks(), Uuid::new_v4().simple());
        Ok(self.folder("blobs")?.join(partition).join(row).join(name))
    }

    pub(super) fn refuse(&self, fault: LargeFault) -> Error {
        let error = Error::of(fault);
        match self.table().name() {
            Ok(name) => error.with_table(name.as_str()),
            Err(_) => error,
        }
    }
}
