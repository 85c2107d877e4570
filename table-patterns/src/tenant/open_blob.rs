//! The state of a blob being imported in parts.

use table_core::Result;

use crate::blob::{BlobFolder, BlobWriter};
use crate::tenant::blobs::begin;

/// The effect of a part on its blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The blob has further parts.
    Part,
    /// The part was the last one, and the blob is complete.
    Whole,
    /// The part was the last one, and had already been written.
    Again,
}

/// A partially imported blob.
pub(super) struct OpenBlob {
    /// The blob's name in the export.
    pub(super) name: String,
    folder: BlobFolder,
    /// The number of bytes written so far.
    written: u64,
    /// The blob's writer; `None` after the last part, after an error, or once the blob is closed.
    writer: Option<BlobWriter>,
}

impl OpenBlob {
    /// Begins a blob. `name` is its name in the export, and `target` its name in the importing store.
    pub(super) fn begin(name: String, target: &str, folder: BlobFolder) -> Result<Self> {
        Ok(Self { name, folder, written: 0, writer: Some(begin(target)?) })
    }

    /// Writes a part. Skips a part that has already been written. Returns `None` if earlier bytes of the blob are missing; the blob must then be imported again
    /// from its first part.
    ///
    /// # Errors
    /// Any error from the blob store. The blob must then be imported again from its first part.
    pub(super) async fn write(&mut self, from: u64, bytes: &[u8], is_last: bool) -> Result<Option<Written>> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if from.saturating_add(length) <= self.written && !bytes.is_empty() {
            return Ok(Some(if is_last { Written::Again } else { Written::Part }));
        }
        let writer = if from == self.written { self.writer.take() } else { None };
        let Some(mut writer) = writer else { return Ok(None) };
        let blobs = self.folder.store.blobs.as_ref();
        if let Err(error) = writer.write(blobs, bytes).await {
            writer.abort().await;
            return Err(error);
        }
        if is_last {
            writer.finish(blobs).await?;
        } else {
            self.writer = Some(writer);
        }
        self.written += length;
        Ok(Some(if is_last { Written::Whole } else { Written::Part }))
    }

    /// Closes the blob. From then on, it accepts only parts that have already been written. Returns the writer if the blob is incomplete.
    pub(super) const fn close(&mut self) -> Option<BlobWriter> {
        self.writer.take()
    }
}
