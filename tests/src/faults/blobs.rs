//! Blob stores whose requests a test controls. If a process is killed at a call, it loses access to its blobs and to its tables.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

use crate::faults::{Control, Controlled};

/// The target of outages that affect blobs.
pub const BLOBS: &str = "blobs";

/// A boxed future that makes a blob request.
type Request<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// An in-memory blob store whose requests a test controls.
pub type ControlledBlobs = Controlled<Arc<InMemory>>;

fn refused(error: table_core::Error) -> object_store::Error {
    object_store::Error::Generic { store: BLOBS, source: Box::new(error) }
}

async fn around<T>(control: &Control, request: impl Future<Output = Result<T>> + Send) -> Result<T> {
    control.around(BLOBS, async { Ok(request.await) }).await.map_err(refused)?
}

impl ObjectStore for ControlledBlobs {
    fn put_opts<'s: 'a, 'p: 'a, 'a>(
        &'s self,
        path: &'p Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Request<'a, PutResult>
    where
        Self: 'a,
    {
        around(&self.control, self.store.put_opts(path, payload, options)).boxed()
    }

    fn put_multipart_opts<'s: 'a, 'p: 'a, 'a>(
        &'s self,
        path: &'p Path,
        options: PutMultipartOptions,
    ) -> Request<'a, Box<dyn MultipartUpload>>
    where
        Self: 'a,
    {
        async move {
            let parts = around(&self.control, self.store.put_multipart_opts(path, options)).await?;
            let upload: Box<dyn MultipartUpload> =
                Box::new(ControlledParts { parts, control: self.control.clone() });
            Ok(upload)
        }
        .boxed()
    }

    fn get_opts<'s: 'a, 'p: 'a, 'a>(&'s self, path: &'p Path, options: GetOptions) -> Request<'a, GetResult>
    where
        Self: 'a,
    {
        around(&self.control, self.store.get_opts(path, options)).boxed()
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let blobs = self.clone();
        let delete = move |path: Path| {
            let blobs = blobs.clone();
            async move {
                around(&blobs.control, blobs.store.delete(&path)).await?;
                Ok(path)
            }
        };
        paths.and_then(delete).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (blobs, prefix) = (self.clone(), prefix.cloned());
        stream::once(async move {
            let found = blobs.store.list(prefix.as_ref()).try_collect::<Vec<_>>();
            around(&blobs.control, found).await.map(|found| stream::iter(found.into_iter().map(Ok)))
        })
        .try_flatten()
        .boxed()
    }

    fn list_with_delimiter<'s: 'a, 'p: 'a, 'a>(&'s self, prefix: Option<&'p Path>) -> Request<'a, ListResult>
    where
        Self: 'a,
    {
        around(&self.control, self.store.list_with_delimiter(prefix)).boxed()
    }

    fn copy_opts<'s: 'a, 'f: 'a, 't: 'a, 'a>(
        &'s self,
        from: &'f Path,
        to: &'t Path,
        options: CopyOptions,
    ) -> Request<'a, ()>
    where
        Self: 'a,
    {
        around(&self.control, self.store.copy_opts(from, to, options)).boxed()
    }
}

/// A multipart upload. Each part counts as a request.
#[derive(Debug)]
struct ControlledParts {
    parts: Box<dyn MultipartUpload>,
    control: Control,
}

impl MultipartUpload for ControlledParts {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (control, part) = (self.control.clone(), self.parts.put_part(data));
        async move { around(&control, part).await }.boxed()
    }

    fn complete<'s: 'a, 'a>(&'s mut self) -> Request<'a, PutResult>
    where
        Self: 'a,
    {
        around(&self.control, self.parts.complete()).boxed()
    }

    fn abort<'s: 'a, 'a>(&'s mut self) -> Request<'a, ()>
    where
        Self: 'a,
    {
        around(&self.control, self.parts.abort()).boxed()
    }
}
