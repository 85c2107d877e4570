//! Backups of an embedded engine in a store of blobs: all of it the first time, then what is new.
//!
//! # Context
//! A backup on the disk that it is to protect from protects from little. `Engine::backup` copies to a folder; this one copies to any store of
//! the `object_store` crate, beside writers.
//!
//! # Key layout
//! | blob | content |
//! |---|---|
//! | `nightly/BACKUP` | says that the prefix is a backup, and in which format |
//! | `nightly/0000000042.rows` | rows; never changed |
//! | `nightly/BASE` | names the files of rows; the backup is what it names |
//!
//! They are the files of `Engine::backup`, byte by byte: a folder may be uploaded by other means, and a prefix downloaded.
//!
//! # Guarantee
//! - A backup holds all that was acknowledged before the call. Each file of rows is checked before it is sent.
//! - One that is cut short at any request leaves the earlier one or the new one: `BASE` is replaced last, by one request. Call it again.
//! - A restore checks every block. Damage is `Corrupted` with the file and the place, and the folder, once it has files of rows, is refused by `Engine::open`.
//! - The prefix is refused (`FolderNotOurs`) if it holds something else, a backup of another engine, or one of this engine
//!   after which an older state was restored.
//!
//! # Cost
//! A backup is three requests (two reads and a list), one for each new file and each that is removed (more for those above 8 MiB), and one for `BASE`. A file has
//! about 16 MiB. What was sent is not read back; of what an earlier backup sent only the lengths are compared.
//!
//! # Bounds
//! One backup to a prefix at a time: two at once may remove each other's files. A restore needs room for the rows on the disk, once.
//!
//! # When not to
//! For a store of an account, which has its own replication: [`migrate`](crate::migrate) copies tables between stores.
//!
//! ```
//! use std::sync::Arc;
//! use table_patterns::Engine;
//! use table_patterns::backup::BlobBackup;
//! use table_patterns::blob::object_store::memory::InMemory;
//!
//! # pollster::block_on(async {
//! # let root = std::env::temp_dir().join(format!("tables-backup-{}", std::process::id()));
//! # let (folder, restored) = (root.join("data"), root.join("restored"));
//! let engine = Engine::open(&folder)?;
//! let backup = BlobBackup::new(Arc::new(InMemory::new()), "nightly")?;
//! backup.back_up(&engine).await?;
//! let report = backup.back_up(&engine).await?; // what is new
//! assert_eq!(report.copied_files, 0);
//! backup.restore(&restored).await?;
//! let engine = Engine::open(&restored)?;
//! # drop(engine);
//! # std::fs::remove_dir_all(&root).ok();
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod fault;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path as Folder;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStore, ObjectStoreExt};
use table_core::Engine;
use table_core::embedded::{BackupFile, BackupImage, CopyReport, EngineOptions, Restoration};
use table_core::error::{Error, Result};

use crate::backup::fault::BackupFault;
use crate::blob::{InBlobs, blob_error, upload};

const MANIFEST: &str = "BACKUP";
const BASE: &str = "BASE";
/// How the names of files of rows end.
const ROWS: &str = ".rows";
/// Bytes that are read at once.
const PIECE: u64 = 1 << 20;
/// Bytes of a request of an upload in parts.
const PART: usize = 8 << 20;

/// A place for the backups of one engine: a prefix in a store of blobs.
#[derive(Clone, Debug)]
pub struct BlobBackup {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
}

impl BlobBackup {
    /// Backups below a prefix.
    ///
    /// # Errors
    /// `InvalidInput` if the prefix is empty or not a path of blobs.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: &str) -> Result<Self> {
        let path = Path::parse(prefix).map_err(|error| blob_error(prefix, error.into()))?;
        if path.as_ref().is_empty() {
            return Err(Error::of(BackupFault::EmptyPrefix));
        }
        Ok(Self { store, prefix: path })
    }

    /// Sends everything that was acknowledged before the call, but for what the earlier backup has.
    ///
    /// # Errors
    /// `FolderNotOurs` if the prefix holds something else, or a backup that this one does not follow; `Corrupted` if a file of the engine
    /// cannot be read; those of `Engine::checkpoint`; those of the store.
    pub async fn back_up(&self, engine: &Engine) -> Result<CopyReport> {
        let manifest = self.read(MANIFEST).await?;
        let earlier = self.read(BASE).await?;
        let there = self.list().await?;
        if manifest.is_none() && !there.is_empty() {
            return Err(Error::of(BackupFault::NotOurs(self.prefix.to_string())));
        }
        let image = engine.backup_image().await?;
        let files = image.files(earlier.as_deref(), self.prefix.as_ref())?;
        if manifest.as_deref() != Some(&image.manifest()) {
            self.write(MANIFEST, image.manifest()).await?;
        }
        let mut report = CopyReport::default();
        for file in &files {
            if file.kept && there.get(&file.name) == Some(&file.bytes) {
                report.kept_files += 1;
                report.kept_bytes += file.bytes;
            } else {
                self.send(&image, file).await?;
                report.copied_files += 1;
                report.copied_bytes += file.bytes;
            }
        }
        let base = image.base();
        if earlier.as_deref() != Some(&base) {
            self.write(BASE, base).await?;
        }
        // IMPORTANT: after `BASE`. Until it is replaced the earlier backup needs its files.
        let obsolete = |name: &&String| name.ends_with(ROWS) && files.iter().all(|file| file.name != **name);
        for name in there.keys().filter(obsolete) {
            let path = self.path(name);
            match self.store.delete(&path).await {
                Err(StoreError::NotFound { .. }) => {}
                outcome => outcome.in_blob(&path)?,
            }
            report.removed_files += 1;
        }
        Ok(report)
    }

    /// Makes an engine's folder of the backup, in a folder that is empty or missing, with every block checked.
    ///
    /// # Errors
    /// `FolderNotOurs` if the folder holds something, or the prefix no whole backup; `Corrupted` with the file and the place; `BlobNotFound`
    /// if a file is missing; `FormatTooNew`, `FormatTooOld`, `Io`, `DiskFull`; those of the store. A folder that has files of rows
    /// by then is refused by `Engine::open`: empty it before the next attempt.
    pub async fn restore(&self, to: impl AsRef<Folder>) -> Result<CopyReport> {
        let (Some(manifest), Some(base)) = (self.read(MANIFEST).await?, self.read(BASE).await?) else {
            return Err(Error::of(BackupFault::NoBackup(self.prefix.to_string())));
        };
        let restoration = EngineOptions::new().restoration(&manifest, &base, to)?;
        for file in restoration.files() {
            self.fetch(&restoration, &file).await?;
        }
        restoration.finish()
    }

    fn path(&self, name: &str) -> Path {
        self.prefix.clone().join(name)
    }

    /// The content of a small blob, if it is there.
    async fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.path(name);
        match self.store.get(&path).await {
            Err(StoreError::NotFound { .. }) => Ok(None),
            found => Ok(Some(found.in_blob(&path)?.bytes().await.in_blob(&path)?.to_vec())),
        }
    }

    async fn write(&self, name: &str, bytes: Vec<u8>) -> Result<()> {
        let path = self.path(name);
        self.store.put(&path, Bytes::from(bytes).into()).await.in_blob(&path).map(drop)
    }

    /// The names below the prefix, with their lengths.
    async fn list(&self) -> Result<HashMap<String, u64>> {
        let listing = self.store.list(Some(&self.prefix));
        let named = listing.map_ok(|meta| {
            let name = meta.location.filename().unwrap_or_default().to_owned();
            (name, meta.size)
        });
        named.try_collect().await.in_blob(&self.prefix)
    }

    async fn send(&self, image: &BackupImage, file: &BackupFile) -> Result<()> {
        image.check(file)?;
        let pieces = (0..file.bytes).step_by(usize::try_from(PIECE).unwrap_or(usize::MAX)).map(|offset| {
            let length = usize::try_from((file.bytes - offset).min(PIECE)).unwrap_or_default();
            let mut piece = vec![0; length];
            image.read(file, offset, &mut piece)?;
            Ok(Bytes::from(piece))
        });
        upload(self.store.as_ref(), self.path(&file.name), PART, stream::iter(pieces)).await.map(drop)
    }

    async fn fetch(&self, restoration: &Restoration, file: &BackupFile) -> Result<()> {
        let path = self.path(&file.name);
        let mut content = self.store.get(&path).await.in_blob(&path)?.into_stream();
        let mut offset = 0;
        while let Some(piece) = content.next().await {
            let piece = piece.in_blob(&path)?;
            restoration.write(file, offset, &piece)?;
            offset += piece.len() as u64;
        }
        Ok(())
    }
}
