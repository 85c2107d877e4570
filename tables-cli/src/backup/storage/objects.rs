//! Storage under a prefix of an object store: Amazon S3, Azure Blob Storage, Google Cloud Storage, a file system, or memory.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreScheme};

use crate::backup::storage::lease::{LOCKS, Lease, RENEWAL, TIMEOUT};
use crate::backup::storage::requests::Requests;
use crate::backup::storage::segments::{self, Growing, Reading};
use crate::backup::storage::shared::Shared;
use crate::backup::storage::{Append, Folder, Storage};
use crate::failure::{Failure, Result};

/// The maximum size of one object of a growing file, in bytes. At most one object of each open file is in memory.
const SEGMENT: usize = 8 << 20;

/// A prefix of an object store.
#[derive(Debug)]
pub struct Objects {
    shared: Arc<Shared>,
    timeout: Duration,
}

impl Objects {
    /// Creates storage under a prefix. Messages show the location as `shown`.
    ///
    /// # Errors
    /// `File` if the runtime for requests cannot be started.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: ObjectPath, shown: impl Into<String>) -> Result<Self> {
        let requests = Requests::new(store, prefix)?;
        let shared = Shared {
            requests,
            segment: SEGMENT,
            shown: shown.into(),
            lease: Mutex::default(),
            renewal: RENEWAL,
        };
        Ok(Self { shared: Arc::new(shared), timeout: TIMEOUT })
    }

    /// Sets how long the lock of another command must remain unchanged before this command takes it over [default: 30 seconds].
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the size, in bytes, at which the buffered end of a growing file is written as an object.
    #[cfg(test)]
    pub(in crate::backup) fn with_segment(mut self, segment: usize) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.segment = segment;
        }
        self
    }

    /// Sets the interval at which a command renews its lock.
    #[cfg(test)]
    pub(in crate::backup) fn with_renewal(mut self, renewal: Duration) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.renewal = renewal;
        }
        self
    }
}

/// Opens the storage at a URL: `s3://bucket/path`, `az://container/path`, `gs://bucket/path`, `memory:///`, `file:///path` (a folder), or another URL that the
/// `object_store` crate supports. Credentials and options are read from environment variables such as `AWS_ACCESS_KEY_ID`.
///
/// # Errors
/// `Usage` if the URL is not supported, or if options are missing.
pub(super) fn at(url: &str) -> Result<Arc<dyn Storage>> {
    let usage = |reason: &dyn fmt::Display| {
        Failure::Usage(format!("{} is not an object store: {reason}", public(url)))
    };
    let parsed = url.parse().map_err(|error| usage(&error))?;
    let (scheme, _) = ObjectStoreScheme::parse(&parsed).map_err(|error| usage(&error))?;
    if let (ObjectStoreScheme::Local, Ok(path)) = (scheme, parsed.to_file_path()) {
        return Ok(Arc::new(Folder::new(&path)));
    }
    // If the program has already installed a provider, this call fails, and the installed provider is kept.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let opened = object_store::parse_url_opts(&parsed, std::env::vars());
    let (store, prefix) = opened.map_err(|error| usage(&error))?;
    Ok(Arc::new(Objects::new(Arc::from(store), prefix, public(url))?))
}

/// Returns a URL without its query, which may contain a signature.
fn public(url: &str) -> String {
    url.split('?').next().unwrap_or_default().to_owned()
}

impl fmt::Display for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shared.shown)
    }
}

impl Storage for Objects {
    fn is_unused(&self) -> Result<bool> {
        Ok(self.shared.requests.names("")?.iter().all(|name| name == LOCKS))
    }

    fn prepare(&self, _folders: &[&str]) -> Result<()> {
        Ok(())
    }

    fn names(&self, folder: &str) -> Result<Vec<String>> {
        self.shared.requests.files(folder)
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.shared.requests.get(name)?.map(Vec::from))
    }

    fn replace(&self, name: &str, content: &[u8]) -> Result<()> {
        self.shared.put(name, Bytes::copy_from_slice(content))
    }

    fn begin(&self, name: &str, content: &[u8]) -> Result<()> {
        // If another command creates the object first, the caller reads the content that it wrote.
        self.shared.requests.create(name, Bytes::copy_from_slice(content)).map(drop)
    }

    fn commit(&self, name: &str, content: &[u8]) -> Result<()> {
        self.shared.commit(name, Bytes::copy_from_slice(content))
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.shared.renew(false)?;
        segments::remove(&self.shared, name, 0)?;
        self.shared.requests.delete(name)
    }

    fn length(&self, name: &str) -> Result<Option<u64>> {
        segments::length(&self.shared, name)
    }

    fn open(&self, name: &str) -> Result<Box<dyn Read + Send>> {
        Ok(Box::new(Reading::open(self.shared.clone(), name)?))
    }

    fn append(&self, name: &str, length: u64) -> Result<Box<dyn Append>> {
        Ok(Box::new(Growing::open(self.shared.clone(), name, length)?))
    }

    fn lock(&self) -> Result<()> {
        let lease = Lease::acquire(&self.shared.requests, self.timeout, &self.shared.shown)?;
        *self.shared.lease.lock().unwrap_or_else(PoisonError::into_inner) = Some(lease);
        Ok(())
    }

    fn can_lose_lock(&self) -> bool {
        true
    }

    fn keep_lock(&self) -> Result<()> {
        self.shared.renew(false)
    }

    fn confirm(&self, _folders: &[&str]) -> Result<()> {
        self.shared.renew(true)
    }

    fn local(&self) -> Option<&Path> {
        None
    }
}
