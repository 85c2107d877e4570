//! The state of a blob that is being imported in parts.

use table_core::{Error, Result};

use crate::blob::{BlobFolder, BlobWriter};
use crate::tenant::blobs::begin;
use crate::tenant::fault::TenantFault;

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

/// The blob to which the last imported part belongs.
pub(super) struct OpenBlob {
    /// The blob's name in the export.
    name: String,
    folder: BlobFolder,
    /// The number of bytes written so far.
    written: u64,
    /// The writer of the blob; `None` after the last part, or after an error.
    writer: Option<BlobWriter>,
}

impl OpenBlob {
    /// Begins a blob. `name` is its name in the export, and `target` its name in the importing store.
    pub(super) fn begin(name: String, target: &str, folder: BlobFolder) -> Result<Self> {
        Ok(Self { name, folder, written: 0, writer: Some(begin(target)?) })
    }

    /// Returns `true` if the part of the blob `name` at offset `from` continues this blob. If not, the part must be the first part of a blob. An export
    /// from an earlier release has no offsets; each part then continues the blob until the last part.
    pub(super) fn continues_with(&self, name: &str, from: Option<u64>) -> bool {
        self.name == name && from.map_or(self.writer.is_some(), |from| from > 0)
    }

    /// Writes a part. Skips a part that has already been written.
    ///
    /// # Errors
    /// `InvalidInput` if the bytes before the part are missing; any error from the blob store. The blob must then be imported again from its first part.
    pub(super) async fn write(&mut self, from: Option<u64>, bytes: &[u8], is_last: bool) -> Result<Written> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let from = from.unwrap_or(self.written);
        if from.saturating_add(length) <= self.written && !bytes.is_empty() {
            return Ok(if is_last { Written::Again } else { Written::Part });
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
        Ok(if is_last { Written::Whole } else { Written::Part })
    }

    /// Discards the uploaded parts of an incomplete blob.
    pub(super) async fn discard(self) {
        if let Some(writer) = self.writer {
            writer.abort().await;
        }
    }
}
