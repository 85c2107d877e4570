//! A blob that is imported in parts.

use table_core::{Error, Result};

use crate::blob::{BlobFolder, BlobWriter};
use crate::tenant::blobs::begin;
use crate::tenant::fault::TenantFault;

/// The blob whose part was imported last.
pub(super) struct OpenBlob {
    /// The name in the export.
    name: String,
    folder: BlobFolder,
    /// The number of bytes that were written.
    written: u64,
    /// `None` after the last part.
    writer: Option<BlobWriter>,
}

impl OpenBlob {
    /// Starts a blob, given its name in the export and its name at the target.
    pub(super) fn begin(name: String, target: &str, folder: BlobFolder) -> Result<Self> {
        Ok(Self { name, folder, written: 0, writer: Some(begin(target)?) })
    }

    /// Returns `true` if a part with this offset continues this blob instead of starting it again. An
    /// export from an earlier release has no offsets: its parts follow one another until the last one.
    pub(super) fn continues_with(&self, name: &str, from: Option<u64>) -> bool {
        self.name == name && from.map_or(self.writer.is_some(), |from| from > 0)
    }

    /// Writes a part. Returns `true` if this completes the blob. A part that was already written is skipped.
    ///
    /// # Errors
    /// `InvalidInput` if bytes before the part are missing; any error from the blob store. The blob must then be started again.
    pub(super) async fn write(&mut self, from: Option<u64>, bytes: &[u8], is_last: bool) -> Result<bool> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let from = from.unwrap_or(self.written);
        if from.saturating_add(length) <= self.written && !bytes.is_empty() {
            return Ok(false);
        }
        let writer = if from == self.written { self.writer.take() } else { None };
        let Some(mut writer) = writer else {
            return Err(Error::of(TenantFault::Part { name: self.name.clone(), from }));
        };
        let blobs = self.folder.blobs.as_ref();
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
        Ok(is_last)
    }

    /// Discards the parts of a blob whose last part was not imported.
    pub(super) async fn discard(self) {
        if let Some(writer) = self.writer {
            writer.abort().await;
        }
    }
}
