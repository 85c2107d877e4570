//! Blob uploads of one entity write. They precede the write, and are removed if the write has definitely failed.

use table_core::key::EntityKey;
use table_core::{Error, Result};

use crate::blob::Upload;
use crate::large::fault::LargeFault;
use crate::large::{Blob, BlobRef, Content, Large, LargeTable};

/// The blobs uploaded for one write.
pub(super) struct Uploads<E>(Vec<(Blob<E>, BlobRef, Upload)>);

impl<E> Uploads<E> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the uploaded blobs, with their new addresses.
    pub(super) fn addresses(&self) -> impl Iterator<Item = (Blob<E>, &BlobRef)> {
        self.0.iter().map(|(blob, address, _)| (*blob, address))
    }

    /// Returns `true` if new content has been uploaded for the blob.
    pub(super) fn has(&self, blob: Blob<E>) -> bool {
        self.0.iter().any(|(uploaded, ..)| uploaded.property() == blob.property())
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
        let (folder, born) = (self.store.folder(self.table().name()?)?, self.clock.now());
        let mut uploads = Uploads(Vec::with_capacity(contents.len()));
        for Content { blob, stream } in contents {
            match folder.upload(key, born, self.part, stream).await {
                Ok((address, upload)) => uploads.0.push((blob, address, upload)),
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
        let now = self.clock.now();
        uploads
            .0
            .iter()
            .try_for_each(|(.., upload)| self.store.check_age(upload, now))
            .map_err(|error| self.here(error))
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
        for (.., upload) in &uploads.0 {
            self.store.discard(upload).await;
        }
    }

    pub(super) fn refuse(&self, fault: LargeFault) -> Error {
        self.here(Error::of(fault))
    }

    /// Adds the name of the table to an error.
    fn here(&self, error: Error) -> Error {
        match self.table().name() {
            Ok(name) => error.with_table(name.as_str()),
            Err(_) => error,
        }
    }
}
