//! Streaming reads of blobs. The checksum is verified at the end of the content.

use std::fmt;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::{ObjectStore, ObjectStoreExt};
use table_core::{Error, Result};

use crate::blob::BlobRef;
use crate::blob::fault::ReadFault;
use crate::blob::{InBlobs, blob_error};

/// An open blob whose content has not been read yet.
///
/// ```
/// use table_patterns::large::LargeReader;
///
/// /// Returns the value if it is small enough to be held in memory.
/// async fn small(reader: LargeReader) -> table_patterns::Result<Option<Vec<u8>>> {
///     if reader.len() > 1 << 20 {
///         return Ok(None);
///     }
///     Ok(Some(reader.bytes().await?.to_vec()))
/// }
/// ```
pub struct LargeReader {
    blob: BlobRef,
    content: BoxStream<'static, object_store::Result<Bytes>>,
}

impl LargeReader {
    pub(crate) async fn open(blobs: &dyn ObjectStore, blob: &BlobRef) -> Result<Self> {
        let path = object_store::path::Path::parse(&blob.path)
            .map_err(|source| Error::of(ReadFault::Name { path: blob.path.clone(), source }))?;
        let found = blobs.get(&path).await.in_blob(&path).map_err(|error| error.with_rule("PAT-LARGE-2"))?;
        if found.meta.size != blob.length {
            return Err(Error::of(ReadFault::Length { blob: blob.to_string(), bytes: found.meta.size }));
        }
        Ok(Self { blob: blob.clone(), content: found.into_stream() })
    }

    /// Returns the length of the content in bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.blob.length
    }

    /// Returns `true` if the content is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.blob.is_empty()
    }

    /// Streams the content. If the content differs from the uploaded content, the last item is an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes>> + Send {
        let Self { blob, content } = self;
        stream::try_unfold((blob, Some(content), 0_u32, 0_u64), |(blob, content, crc, length)| async move {
            let Some(mut content) = content else { return Ok(None) };
            if let Some(bytes) = content.next().await {
                let bytes = bytes.map_err(|error| blob_error(&blob.path, error))?;
                let crc = crc32c::crc32c_append(crc, &bytes);
                let length = length.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
                return Ok(Some((bytes, (blob, Some(content), crc, length))));
            }
            if (crc, length) == (blob.crc, blob.length) {
                return Ok(None);
            }
            Err(Error::of(ReadFault::Checksum { blob: blob.to_string(), bytes: length, crc }))
        })
    }

    /// Reads the whole content into memory.
    ///
    /// # Errors
    /// `Corrupted` if the content differs from the uploaded content; any error from the blob store, such as `Io`.
    pub async fn bytes(self) -> Result<Bytes> {
        let collected = self.into_stream().try_fold(BytesMut::new(), |mut all, bytes| async move {
            all.extend_from_slice(&bytes);
            Ok(all)
        });
        Ok(collected.await?.freeze())
    }
}

impl fmt::Debug for LargeReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LargeReader").field("blob", &self.blob).finish_non_exhaustive()
    }
}
