//! A fault-injecting blob store for tests.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

/// An in-memory blob store. Requests are counted from 0. One request can be made to fail, either before or after it takes
/// effect.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultyBlobs {
    inner: Arc<InMemory>,
    faults: Arc<Mutex<Faults>>,
    /// The hook, and the number of requests that it skips before it runs.
    hook: Arc<Mutex<Option<(usize, Hook)>>>,
}

/// A test function that runs immediately before a request.
struct Hook(Box<dyn FnOnce(&InMemory) + Send>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

#[derive(Debug, Default)]
struct Faults {
    calls: usize,
    fail_at: Option<usize>,
    /// `true` if the failing request takes effect and only its response is lost.
    lost: bool,
    /// The number of the request that waits once before it takes effect.
    wait_at: Option<usize>,
    no_attributes: bool,
}

impl FaultyBlobs {
    /// Makes request `number` fail. If `lost` is `true`, the request takes effect and only its response is lost.
    pub(crate) fn fail_at(&self, number: usize, lost: bool) {
        let mut faults = self.faults.lock().unwrap();
        *faults = Faults { calls: 0, fail_at: Some(number), lost, ..*faults };
    }

    /// Makes request `number` wait once before it takes effect. The test can then drop its future.
    pub(crate) fn wait_at(&self, number: usize) {
        let mut faults = self.faults.lock().unwrap();
        *faults = Faults { calls: 0, wait_at: Some(number), ..*faults };
    }

    /// Removes all faults and resets the request counter.
    pub(crate) fn heal(&self) {
        let mut faults = self.faults.lock().unwrap();
        *faults = Faults { calls: 0, fail_at: None, wait_at: None, ..*faults };
    }

    /// Sets a hook that runs immediately before the next request.
    pub(crate) fn before_next(&self, hook: impl FnOnce(&InMemory) + Send + 'static) {
        self.before(0, hook);
    }

    /// Sets a hook that runs immediately before a request, after skipping `skipped` requests.
    pub(crate) fn before(&self, skipped: usize, hook: impl FnOnce(&InMemory) + Send + 'static) {
        *self.hook.lock().unwrap() = Some((skipped, Hook(Box::new(hook))));
    }

    /// Takes the hook if it is due before the next request.
    fn due(&self) -> Option<Hook> {
        let mut hook = self.hook.lock().unwrap();
        let (skipped, found) = hook.take()?;
        if skipped == 0 {
            return Some(found);
        }
        *hook = Some((skipped - 1, found));
        None
    }

    /// Returns the content of a blob.
    pub(crate) fn content(&self, name: &str) -> Vec<u8> {
        let read = async { self.inner.get(&Path::from(name)).await?.bytes().await };
        pollster::block_on(read).unwrap().to_vec()
    }

    /// Overwrites a blob, or deletes it if `content` is `None`. Never fails.
    pub(crate) fn damage(&self, name: &str, content: Option<&'static [u8]>) {
        let path = Path::parse(name).unwrap();
        match content {
            Some(content) => drop(pollster::block_on(self.inner.put(&path, content.into())).unwrap()),
            None => pollster::block_on(self.inner.delete(&path)).unwrap(),
        }
    }

    /// Makes the store reject attributes, as a local folder does.
    pub(crate) fn without_attributes(self) -> Self {
        self.faults.lock().unwrap().no_attributes = true;
        self
    }

    /// Returns the number of requests since the last [`heal`](Self::heal).
    pub(crate) fn calls(&self) -> usize {
        self.faults.lock().unwrap().calls
    }

    /// Returns the names of all blobs.
    pub(crate) fn names(&self) -> Vec<String> {
        let list = self.inner.list(None).map(|meta| meta.unwrap().location.to_string()).collect::<Vec<_>>();
        let mut names = pollster::block_on(list);
        names.sort();
        names
    }

    /// Counts the next request. Returns two flags: the first is `true` if the request fails without effect, the second if it takes effect and
    /// then fails.
    fn judge(&self) -> (bool, bool) {
        let mut faults = self.faults.lock().unwrap();
        let fails = faults.fail_at == Some(faults.calls);
        faults.calls += 1;
        (fails && !faults.lost, fails && faults.lost)
    }

    async fn run<T>(&self, request: impl Future<Output = Result<T>> + Send) -> Result<T> {
        if let Some(Hook(hook)) = self.due() {
            hook(&self.inner);
        }
        let waits = {
            let faults = self.faults.lock().unwrap();
            faults.wait_at == Some(faults.calls)
        };
        let (before, after) = self.judge();
        if waits {
            futures_util::pending!();
        }
        if before {
            return Err(failed());
        }
        let answer = request.await;
        if after { Err(failed()) } else { answer }
    }
}

fn failed() -> object_store::Error {
    object_store::Error::Generic { store: "faulty", source: "injected failure".into() }
}

impl fmt::Display for FaultyBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FaultyBlobs")
    }
}

#[async_trait]
impl ObjectStore for FaultyBlobs {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        if self.faults.lock().unwrap().no_attributes && !options.attributes.is_empty() {
            let (operation, implementer) = ("attributes".into(), "faulty".into());
            return Err(object_store::Error::NotImplemented { operation, implementer });
        }
        self.run(self.inner.put_opts(path, payload, options)).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let parts = self.run(self.inner.put_multipart_opts(path, options)).await?;
        Ok(Box::new(FaultyParts { parts, store: self.clone() }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.run(self.inner.get_opts(path, options)).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        let delete = move |path: Result<Path>| {
            let store = store.clone();
            async move {
                let path = path?;
                store.run(store.inner.delete(&path)).await?;
                Ok(path)
            }
        };
        paths.then(delete).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.judge() {
            (false, false) => self.inner.list(prefix),
            _ => futures_util::stream::iter([Err(failed())]).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.run(self.inner.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.run(self.inner.copy_opts(from, to, options)).await
    }
}

/// A multipart upload. Each uploaded part counts as a request.
#[derive(Debug)]
struct FaultyParts {
    parts: Box<dyn MultipartUpload>,
    store: FaultyBlobs,
}

#[async_trait]
impl MultipartUpload for FaultyParts {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (store, part) = (self.store.clone(), self.parts.put_part(data));
        async move { store.run(part).await }.boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.store.run(self.parts.complete()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.store.run(self.parts.abort()).await
    }
}
