//! Streaming multipart uploads. They compute the length and the checksum of the blob.

use std::pin::pin;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt};
use table_core::Result;

use crate::blob::BlobRef;
use crate::blob::InBlobs;

/// The default size of an upload part, in bytes. It exceeds 5 MiB, the highest minimum part size of any blob store.
pub(crate) const PART: usize = 8 << 20;

/// Creates a stream of in-memory content for an upload.
pub fn whole(content: impl Into<Bytes>) -> impl Stream<Item = Result<Bytes>> + Send {
    stream::iter([Ok(content.into())])
}

/// Uploads a new blob in parts. A blob that fits into one part is uploaded in one request.
pub(crate) struct BlobWriter {
    path: Path,
    part: usize,
    held: BytesMut,
    parts: Option<Box<dyn MultipartUpload>>,
    written: BlobRef,
}

impl BlobWriter {
    /// Creates a writer for a new blob, with parts of `part` bytes. Sends no request.
    pub(crate) fn new(path: Path, part: usize) -> Self {
        let written = BlobRef { path: path.to_string(), length: 0, crc: 0 };
        Self { path, part, held: BytesMut::new(), parts: None, written }
    }

    /// Adds bytes to the blob, and sends all complete parts. Only the last part of the blob may be smaller than `part`. Holds at most one part in memory.
    pub(crate) async fn write(&mut self, blobs: &dyn ObjectStore, mut bytes: &[u8]) -> Result<()> {
        self.written.length += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.written.crc = crc32c::crc32c_append(self.written.crc, bytes);
        while self.held.len() + bytes.len() > self.part {
            let (missing, rest) = bytes.split_at(self.part - self.held.len());
            self.held.extend_from_slice(missing);
            bytes = rest;
            let parts = match &mut self.parts {
                Some(parts) => parts,
                none => none.insert(blobs.put_multipart(&self.path).await.in_blob(&self.path)?),
            };
            parts.put_part(self.held.split().freeze().into()).await.in_blob(&self.path)?;
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    /// Sends the last part and completes the blob. Returns its address.
    pub(crate) async fn finish(mut self, blobs: &dyn ObjectStore) -> Result<BlobRef> {
        let held = self.held.split().freeze();
        let Some(mut parts) = self.parts.take() else {
            blobs.put(&self.path, held.into()).await.in_blob(&self.path)?;
            return Ok(self.written);
        };
        let finished = async {
            if !held.is_empty() {
                parts.put_part(held.into()).await.in_blob(&self.path)?;
            }
            parts.complete().await.in_blob(&self.path)
        };
        match finished.await {
            Ok(_) => Ok(self.written),
            Err(error) => {
                // If this request fails, the store eventually discards the uploaded parts (BLB-5).
                let _ = parts.abort().await;
                Err(error)
            }
        }
    }

    /// Aborts the upload. If the abort request fails, the store eventually discards the uploaded parts (BLB-5).
    pub(crate) async fn abort(self) {
        if let Some(mut parts) = self.parts {
            let _ = parts.abort().await;
        }
    }
}

/// Writes a new blob with the content of a stream.
///
/// If the stream or the store fails, no blob has been written, or a blob to which no entity refers.
pub(crate) async fn upload(
    blobs: &dyn ObjectStore,
    path: Path,
    part: usize,
    content: impl Stream<Item = Result<Bytes>> + Send,
) -> Result<BlobRef> {
    let (mut content, mut writer) = (pin!(content), BlobWriter::new(path, part));
    while let Some(bytes) = content.next().await {
        let written = match bytes {
            Ok(bytes) => writer.write(blobs, &bytes).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            writer.abort().await;
            return Err(error);
        }
    }
    writer.finish(blobs).await
}
