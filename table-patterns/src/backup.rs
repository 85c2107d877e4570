//! Backups of an embedded engine to a blob store: one full backup, followed by incremental backups.
//!
//! # Context
//! A backup on the same disk as the data is lost together with that disk. `Engine::backup` copies to a folder. This module copies to any store that the
//! `object_store` crate supports. Writers can continue during a backup.
//!
//! # Key layout
//! | blob | content |
//! |---|---|
//! | `nightly/BACKUP` | marks the prefix as a backup, with its format version |
//! | `nightly/0000000042.rows` | rows; immutable |
//! | `nightly/BASE` | lists the row files that make up the backup |
//!
//! The files are identical to those written by `Engine::backup`, byte for byte. Other tools may upload a folder that this function has written, or download all
//! blobs with the prefix.
//!
//! # Guarantee
//! - A backup contains everything that was acknowledged before the call. Each row file is verified before it is uploaded.
//! - `BASE` is replaced last, in one request. An interrupted backup therefore leaves either the previous backup or the new one. To complete an interrupted
//!   backup, call `back_up` again.
//! - A restore yields the state of a single backup: the last one that was complete when the restore began, or one that was completed during the restore.
//! - A restore verifies every block. A corrupted block is reported as `Corrupted`, with its file and offset. `Engine::open` refuses a partly restored folder
//!   that contains row files.
//! - `FolderNotOurs` is returned if the prefix contains other blobs or a backup of another engine. The backup from which this engine's folder was restored
//!   counts as a backup of another engine.
//!
//! # Cost
//! A backup costs three requests: two reads and a listing. It costs one more for each new or removed row file (several for a file above 8 MiB), and one more
//! for `BASE` if it has changed. The first backup also writes `BACKUP`. Row files have about 16 MiB each. Uploaded files are not read back. Files of an earlier
//! backup are compared only by length.
//!
//! # Bounds
//! Only one backup may run on a prefix at a time, because two concurrent backups may remove each other's files. A longer prefix, such as `nightly/weekly`, is
//! the destination of a separate backup. A restore needs disk space for one copy of the rows.
//!
//! During a restore, a new backup to the prefix may complete and remove files that the restore still needs. The restore then continues with the new backup, and
//! fetches only the missing files. It completes if it is faster than the engine writes.
//!
//! # When not to
//! A cloud account has no engine files, so this module does not apply. The service replicates an account's data but keeps no earlier states. To keep them, use
//! `tables backup`. To copy tables between stores, use [`migrate`](crate::migrate).
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
use table_core::embedded::{BackupFile, BackupImage, CopyReport, EngineOptions, Restoration};
use table_core::{Engine, Error, ErrorCode, Result};

use crate::backup::fault::BackupFault;
use crate::blob::{InBlobs, blob_error, upload};

const MANIFEST: &str = "BACKUP";
const BASE: &str = "BASE";
/// The suffix of row file names.
const ROWS: &str = ".rows";
/// The number of bytes per read request.
const PIECE: u64 = 1 << 20;
/// The size in bytes of each part of a multipart upload.
const PART: usize = 8 << 20;

/// The backup destination for one engine: a prefix in a blob store.
#[derive(Clone, Debug)]
pub struct BlobBackup {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
}

impl BlobBackup {
    /// Creates a backup destination in the given store, under the given prefix.
    ///
    /// # Errors
    /// `InvalidInput` if the prefix is empty or is not a valid blob path.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: &str) -> Result<Self> {
        let path = Path::parse(prefix).map_err(|error| blob_error(prefix, error.into()))?;
        if path.as_ref().is_empty() {
            return Err(Error::of(BackupFault::EmptyPrefix));
        }
        Ok(Self { store, prefix: path })
    }

    /// Backs up everything that was acknowledged before the call. Row files of the previous backup are not uploaded again.
    ///
    /// # Errors
    /// - `FolderNotOurs` if the prefix contains other blobs, or a backup that is not an earlier backup of this engine.
    /// - `Corrupted` if one of the engine's row files cannot be read.
    /// - Any error from `Engine::checkpoint` or the blob store.
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
        // IMPORTANT: obsolete row files are removed only after `BASE` has been replaced, because the previous backup needs them until then.
        let obsolete = |name: &&String| name.ends_with(ROWS) && files.iter().all(|file| file.name != **name);
        for name in there.keys().filter(obsolete) {
            let path = self.path(name);
            match self.store.delete(&path).await {
                Err(StoreError::NotFound { .. }) => {}
                outcome => {
                    outcome.in_blob(&path)?;
                    report.removed_files += 1;
                }
            }
        }
        Ok(report)
    }

    /// Restores the backup into an empty or missing folder. Verifies every block.
    ///
    /// # Errors
    /// - `FolderNotOurs` if the folder is not empty, or if the prefix contains no complete backup.
    /// - `Corrupted`, with the file and the offset, if a block is corrupted; `BlobNotFound` if a file is missing.
    /// - `FormatTooNew` or `FormatTooOld` if this library cannot read the backup's format; `Io` or `DiskFull` if the folder cannot be written; any error from
    ///   the blob store.
    ///
    /// After an error, `Engine::open` refuses a folder that already contains row files; empty the folder before the next attempt.
    pub async fn restore(&self, to: impl AsRef<Folder>) -> Result<CopyReport> {
        let (Some(manifest), Some(base)) = (self.read(MANIFEST).await?, self.read(BASE).await?) else {
            return Err(Error::of(BackupFault::NoBackup(self.prefix.to_string())));
        };
        let (mut base, mut restoration) =
            (base.clone(), EngineOptions::new().restoration(&manifest, &base, to)?);
        let mut fetched = Vec::new();
        loop {
            let Err(error) = self.fetch_all(&restoration, &mut fetched).await else { break };
            // A backup replaces `BASE` before it removes files. If `BASE` is unchanged, the file is therefore missing for another reason.
            let newer = if error.code() == ErrorCode::BlobNotFound { self.read(BASE).await? } else { None };
            base = newer.filter(|newer| *newer != base).ok_or(error)?;
            restoration.replace_base(&base)?;
        }
        restoration.finish()
    }

    /// Fetches the files of the backup that are not yet in `fetched`, and adds them to it.
    async fn fetch_all(&self, restoration: &Restoration, fetched: &mut Vec<BackupFile>) -> Result<()> {
        for file in restoration.files() {
            if !fetched.contains(&file) {
                self.fetch(restoration, &file).await?;
                fetched.push(file);
            }
        }
        Ok(())
    }

    fn path(&self, name: &str) -> Path {
        self.prefix.clone().join(name)
    }

    /// Returns the content of a small blob, or `None` if it does not exist.
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

    /// Returns the blobs directly below the prefix, with their lengths. Blobs below a longer prefix are ignored: that prefix may contain another backup with
    /// the same file names.
    async fn list(&self) -> Result<HashMap<String, u64>> {
        let mut listing = self.store.list(Some(&self.prefix));
        let mut files = HashMap::new();
        while let Some(meta) = listing.try_next().await.in_blob(&self.prefix)? {
            if let Some(name) = meta.location.filename().filter(|name| self.path(name) == meta.location) {
                files.insert(name.to_owned(), meta.size);
            }
        }
        Ok(files)
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
