//! Sends requests to an object store, and blocks until the responses arrive.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion};
use tokio::runtime::Runtime;

use crate::failure::{Failure, Result};

/// Sends requests to a prefix of an object store. The requests run on a separate runtime, so callers may run on a runtime themselves.
#[derive(Debug)]
pub(super) struct Requests {
    store: Arc<dyn ObjectStore>,
    prefix: ObjectPath,
    /// The runtime. It is `None` only while the value is being dropped.
    runtime: Option<Runtime>,
}

impl Requests {
    pub(super) fn new(store: Arc<dyn ObjectStore>, prefix: ObjectPath) -> Result<Self> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime =
            builder.worker_threads(1).enable_all().build().map_err(Failure::file("object store"))?;
        Ok(Self { store, prefix, runtime: Some(runtime) })
    }

    /// Returns the path of the object with this name.
    pub(super) fn path(&self, name: &str) -> ObjectPath {
        let parts = name.split('/').filter(|part| !part.is_empty());
        parts.fold(self.prefix.clone(), ObjectPath::join)
    }

    /// Runs a request on the runtime, and waits for its response.
    fn wait<T, F>(&self, name: &str, request: F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let (sender, receiver) = sync_channel(1);
        let stopped = || Failure::file(name)(std::io::Error::other("the request was interrupted"));
        let Some(runtime) = &self.runtime else { return Err(stopped()) };
        runtime.spawn(async move {
            // The receiver exists until the request has completed.
            let _ = sender.send(request.await);
        });
        let outcome = receiver.recv().map_err(|_| stopped())?;
        outcome.map_err(|error| Failure::file(name)(io_error(error)))
    }

    /// Returns the content of an object, or `None` if the object does not exist.
    pub(super) fn get(&self, name: &str) -> Result<Option<Bytes>> {
        let (store, path) = (self.store.clone(), self.path(name));
        self.wait(name, async move {
            match store.get(&path).await {
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                found => found?.bytes().await.map(Some),
            }
        })
    }

    /// Creates or replaces an object.
    pub(super) fn put(&self, name: &str, content: Bytes) -> Result<()> {
        let (store, path) = (self.store.clone(), self.path(name));
        self.wait(name, async move { store.put(&path, content.into()).await.map(drop) })
    }

    /// Creates an object. Returns `false` if the object already exists.
    pub(super) fn create(&self, name: &str, content: Bytes) -> Result<bool> {
        let (store, path) = (self.store.clone(), self.path(name));
        let options = PutOptions::from(PutMode::Create);
        self.wait(name, async move {
            match store.put_opts(&path, PutPayload::from(content), options).await {
                Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                    Ok(false)
                }
                done => done.map(|_| true),
            }
        })
    }

    /// Creates an empty object, to be replaced by a file later, and returns its version. An existing object keeps its content.
    pub(super) fn reserve(&self, name: &str) -> Result<UpdateVersion> {
        let (store, path) = (self.store.clone(), self.path(name));
        self.wait(name, async move {
            match store.put_opts(&path, PutPayload::default(), PutMode::Create.into()).await {
                // A retry within the client can find the object that the first attempt created.
                Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                    let found = store.head(&path).await?;
                    Ok(UpdateVersion { e_tag: found.e_tag, version: found.version })
                }
                created => created.map(UpdateVersion::from),
            }
        })
    }

    /// Replaces an object if it still has the given version. It is not an error if another command has replaced or removed the object. A store that does not
    /// compare versions, such as a file system, always replaces the object.
    pub(super) fn update(&self, name: &str, content: Bytes, version: UpdateVersion) -> Result<()> {
        let (store, path) = (self.store.clone(), self.path(name));
        self.wait(name, async move {
            match store.put_opts(&path, content.clone().into(), PutMode::Update(version).into()).await {
                Err(object_store::Error::Precondition { .. } | object_store::Error::NotFound { .. }) => {
                    Ok(())
                }
                Err(object_store::Error::NotImplemented { .. }) => {
                    store.put(&path, content.into()).await.map(drop)
                }
                done => done.map(drop),
            }
        })
    }

    /// Deletes an object if it exists.
    pub(super) fn delete(&self, name: &str) -> Result<()> {
        let (store, path) = (self.store.clone(), self.path(name));
        self.wait(name, async move {
            match store.delete(&path).await {
                Err(object_store::Error::NotFound { .. }) => Ok(()),
                done => done,
            }
        })
    }

    /// Returns the names of the objects and subfolders in a folder, without the path of the folder.
    pub(super) fn names(&self, folder: &str) -> Result<Vec<String>> {
        self.names_if(folder, |_| true)
    }

    /// Returns the names of the files and subfolders in a folder, except those that exist only as empty placeholder objects.
    pub(super) fn files(&self, folder: &str) -> Result<Vec<String>> {
        let is_manifest = |object: &ObjectMeta| object.location.extension() == Some("json");
        self.names_if(folder, |object| object.size > 0 || !is_manifest(object))
    }

    fn names_if(&self, folder: &str, is_named: impl Fn(&ObjectMeta) -> bool) -> Result<Vec<String>> {
        let (store, path) = (self.store.clone(), self.path(folder));
        let listed = self.wait(folder, async move { store.list_with_delimiter(Some(&path)).await })?;
        let objects = listed.objects.iter().filter(|object| is_named(object));
        let objects = objects.filter_map(|object| object.location.filename());
        let folders = listed.common_prefixes.iter().filter_map(|prefix| prefix.filename());
        Ok(objects.chain(folders).map(str::to_owned).collect())
    }

    /// Returns the name and length of each object in a folder. The names do not include the path of the folder.
    pub(super) fn lengths(&self, folder: &str) -> Result<Vec<(String, u64)>> {
        let (store, path) = (self.store.clone(), self.path(folder));
        let listed: Vec<_> = self.wait(folder, async move { store.list(Some(&path)).try_collect().await })?;
        let object = |object: &ObjectMeta| Some((object.location.filename()?.to_owned(), object.size));
        Ok(listed.iter().filter_map(object).collect())
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Dropping the runtime would block until it has shut down, which is not allowed on a thread of another runtime.
            runtime.shutdown_background();
        }
    }
}

fn io_error(error: object_store::Error) -> std::io::Error {
    let kind = match &error {
        object_store::Error::NotFound { .. } => std::io::ErrorKind::NotFound,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            std::io::ErrorKind::PermissionDenied
        }
        _ => std::io::ErrorKind::Other,
    };
    std::io::Error::new(kind, error)
}
