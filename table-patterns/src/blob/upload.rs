//! Streaming uploads in parts, with length and checksum.

use std::pin::pin;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt};
use table_core::error::Result;

use crate::blob::BlobRef;
use crate::blob::InBlobs;

/// Returns a value in memory as the stream that an upload takes.
pub fn whole(content: impl Into<Bytes>) -> impl Stream<Item = Result<Bytes>> + Send {
    stream::iter([Ok(content.into())])
}

/// Writes a stream to a new blob. A stream that fits into one part is sent in one request.
///
/// An error of the stream or of the store leaves either no blob, or a blob that no entity refers to.
pub(crate) async fn upload(
    blobs: &dyn ObjectStore,
    path: Path,
    part: usize,
    content: impl Stream<Item = Result<Bytes>> + Send,
) -> Result<BlobRef> {
    let mut content = pin!(content);
    let mut written = BlobRef { path: path.to_string(), length: 0, crc: 0 };
    let mut held = BytesMut::new();
    let mut parts: Option<Box<dyn MultipartUpload>> = None;
    while let Some(bytes) = content.next().await {
        let sent = match bytes {
            Ok(bytes) => {
                written.length += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                written.crc = crc32c::crc32c_append(written.crc, &bytes);
                held.extend_from_slice(&bytes);
                send_parts(blobs, &path, &mut parts, &mut held, part).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = sent {
            abort(parts).await;
            return Err(error);
        }
    }
    let Some(mut parts) = parts else {
        blobs.put(&path, held.freeze().into()).await.in_blob(&path)?;
        return Ok(written);
    };
    let finished = async {
        if !held.is_empty() {
            parts.put_part(held.freeze().into()).await.in_blob(&path)?;
        }
        parts.complete().await.in_blob(&path)
    };
    match finished.await {
        Ok(_) => Ok(written),
        Err(error) => {
            abort(Some(parts)).await;
            Err(error)
        }
    }
}

/// Sends all complete parts of the buffer. Only the last part of an upload may be smaller.
async fn send_parts(
    blobs: &dyn ObjectStore,
    path: &Path,
    parts: &mut Option<Box<dyn MultipartUpload>>,
    held: &mut BytesMut,
    part: usize,
) -> Result<()> {
    while held.len() > part {
        let parts = match parts {
            Some(parts) => parts,
            None => parts.insert(blobs.put_multipart(path).await.in_blob(path)?),
        };
        parts.put_part(held.split_to(part).freeze().into()).await.in_blob(path)?;
    }
    Ok(())
}

/// Aborts an upload. If the request fails, the store eventually discards the uploaded parts by itself (BLB-5).
async fn abort(parts: Option<Box<dyn MultipartUpload>>) {
    if let Some(mut parts) = parts {
        let _ = parts.abort().await;
    }
}
