//! The repository of a store's backups. It manages the marker file, the lock and the generations, and removes files that no generation needs.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, Duration, Utc};
use serde::{Deserialize, Serialize};

use crate::backup::generation::{Contents, Generation};
use crate::backup::sealed;
use crate::backup::storage::{Folder, MARKER, Storage};
use crate::failure::{Failure, Result};
use crate::store::was_identity;

const GENERATIONS: &str = "generations";
const ROWS: &str = "rows";
const FILES: &str = "files";
/// The name of the file that records the progress of an unfinished generation.
pub(super) const WORKING: &str = "working.json";
/// The version of the backup format that this program writes.
const FORMAT: u32 = 1;

/// The content of the marker file in a backup folder.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Marker {
    format: u32,
    /// The name of the store that is backed up.
    source: String,
}

/// The backups of one store.
#[derive(Debug)]
pub struct Repository {
    storage: Arc<dyn Storage>,
    source: String,
}

impl Repository {
    /// Opens a backup folder for reading.
    ///
    /// # Errors
    /// Any error from [`open_in`](Self::open_in).
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_in(Arc::new(Folder::new(path)))
    }

    /// Opens the backups in a storage for reading.
    ///
    /// # Errors
    /// `Refused` if the storage contains no backups, or backups in a newer format.
    pub fn open_in(storage: Arc<dyn Storage>) -> Result<Self> {
        let marker: Option<Marker> = sealed::read(&*storage, MARKER)?;
        let Some(marker) = marker else {
            return Err(Failure::Refused(format!("{storage} contains no backups of `tables backup`")));
        };
        if marker.format > FORMAT {
            let help = "install a newer version of `tables`";
            return Err(Failure::Refused(format!("{storage} has format {}; {help}", marker.format)));
        }
        Ok(Self { storage, source: marker.source })
    }

    /// Opens the backup folder of a store for writing, and locks it.
    ///
    /// # Errors
    /// Any error from [`create_in`](Self::create_in).
    pub fn create(path: &Path, source: &str) -> Result<Self> {
        Self::create_in(Arc::new(Folder::new(path)), source)
    }

    /// Opens the backups of a store for writing, and locks them. Initialises the storage if it is unused.
    ///
    /// # Errors
    /// `Refused` if the storage contains other files, contains backups of another store, or is locked by another command.
    pub fn create_in(storage: Arc<dyn Storage>, source: &str) -> Result<Self> {
        storage.prepare(&[""])?;
        if storage.read(MARKER)?.is_none() {
            // Another command may have initialised the storage after its marker was read.
            if !storage.is_unused()? && storage.read(MARKER)?.is_none() {
                let help = "name an empty folder, or one with backups of this store";
                return Err(Failure::Refused(format!("{storage} contains other files; {help}")));
            }
            let marker = Marker { format: FORMAT, source: source.to_owned() };
            sealed::begin(&*storage, MARKER, &marker)?;
        }
        let repository = Self::open_in(storage)?;
        let (storage, other) = (&repository.storage, &repository.source);
        if other != source && !was_identity(other, source) {
            return Err(Failure::Refused(format!(
                "{storage} contains backups of {other}, not of {source}; name another folder"
            )));
        }
        storage.prepare(&[GENERATIONS, ROWS, FILES])?;
        storage.lock()?;
        Ok(repository)
    }

    /// Returns the storage that contains the backups.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Returns the name of the store that is backed up.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the name of a layer's file in the backup storage.
    #[must_use]
    pub fn layer(&self, file: &str) -> String {
        format!("{ROWS}/{file}")
    }

    /// Returns the file names of all layers in the storage, including files that no generation refers to.
    ///
    /// # Errors
    /// `File` if the folder cannot be read.
    pub(super) fn layers(&self) -> Result<Vec<String>> {
        self.storage.names(ROWS)
    }

    /// Returns the name of an engine file in the storage.
    #[must_use]
    pub fn engine_file(&self, name: &str) -> String {
        format!("{FILES}/{name}")
    }

    /// Returns the names of all generations, oldest first.
    ///
    /// # Errors
    /// `File` if the folder cannot be read.
    pub fn ids(&self) -> Result<Vec<String>> {
        let mut ids = self.storage.names(GENERATIONS)?;
        ids.retain_mut(|name| match name.strip_suffix(".json") {
            Some(id) => {
                *name = id.to_owned();
                true
            }
            None => false,
        });
        ids.sort_unstable();
        Ok(ids)
    }

    /// Reads a generation by its exact name.
    ///
    /// # Errors
    /// `Refused` if the generation does not exist, or if its manifest is corrupted.
    pub fn read(&self, id: &str) -> Result<Generation> {
        let found: Option<Generation> = sealed::read(&*self.storage, &manifest(id))?;
        let generation =
            found.ok_or_else(|| Failure::Refused(format!("{} has no generation {id}", self.storage)))?;
        // IMPORTANT: the name in the manifest is not used, because another program may have written a path there.
        Ok(Generation { id: id.to_owned(), ..generation })
    }

    /// Reads the newest generation. Returns `None` if no generations exist.
    ///
    /// # Errors
    /// `Refused` if its manifest is corrupted.
    pub fn newest(&self) -> Result<Option<Generation>> {
        self.ids()?.last().map(|id| self.read(id)).transpose()
    }

    /// Returns the `BASE` file, in Base64, of the newest generation with engine files. Returns `None` if no generation contains engine files.
    ///
    /// # Errors
    /// `Refused` if a manifest is corrupted.
    pub(super) fn newest_base(&self) -> Result<Option<String>> {
        for id in self.ids()?.iter().rev() {
            if let Contents::Files { base, .. } = self.read(id)?.contents {
                return Ok(Some(base));
            }
        }
        Ok(None)
    }

    /// Finds a generation: the newest one if `name` is `None`, the second newest if it is `~1`, and otherwise the generation whose name starts with `name`.
    ///
    /// # Errors
    /// `Refused` if no generation matches, or if several generations match.
    pub fn find(&self, name: Option<&str>) -> Result<Generation> {
        let (ids, name) = (self.ids()?, name.unwrap_or_default());
        let back = name.strip_prefix('~').and_then(|back| back.parse::<usize>().ok());
        if let Some(id) = back.and_then(|back| ids.iter().rev().nth(back)) {
            return self.read(id);
        }
        let found: Vec<_> = ids.iter().filter(|id| id.starts_with(name)).collect();
        match (found.as_slice(), name) {
            ([.., newest], "") => self.read(newest),
            ([one], _) => self.read(one),
            ([], _) => Err(Failure::Refused(format!(
                "{} has no generation {name}; it has: {}",
                self.storage,
                ids.join(", ")
            ))),
            ([_, ..], _) => Err(Failure::Refused(format!(
                "`{name}` matches {} generations; pass a longer prefix",
                found.len()
            ))),
        }
    }

    /// Returns the name for a new generation whose backup starts at the given time. The name sorts after the names of all existing generations, even if the clock
    /// has been set back.
    ///
    /// # Errors
    /// `File` if the folder cannot be read. `Refused` if another program has added a generation whose name sorts later and is not a time.
    pub fn next_id(&self, now: DateTime<Utc>) -> Result<String> {
        let id = Generation::name(now);
        let Some(last) = self.ids()?.pop().filter(|last| id <= *last) else { return Ok(id) };
        let time =
            Generation::time(&last).and_then(|time| time.checked_add_signed(Duration::milliseconds(1)));
        time.map(Generation::name).filter(|id| *id > last).ok_or_else(|| {
            let help = "move its file to another folder";
            Failure::Refused(format!(
                "the name of the generation {last} in {} is not a time; {help}",
                self.storage
            ))
        })
    }

    /// Adds a complete generation.
    ///
    /// # Errors
    /// `Refused` if another command took over the lock. `File` if the generation cannot be written.
    pub fn commit(&self, generation: &Generation) -> Result<()> {
        self.storage.confirm(&[ROWS, FILES])?;
        sealed::commit(&*self.storage, &manifest(&generation.id), generation)
    }

    /// Removes a generation. Its files remain until [`collect`](Self::collect) is called.
    ///
    /// # Errors
    /// `File` if the generation cannot be removed.
    pub fn remove(&self, id: &str) -> Result<()> {
        self.storage.remove(&manifest(id))
    }

    /// Deletes the files that no generation refers to. Returns the number of deleted files.
    ///
    /// # Errors
    /// `Refused` if a manifest is corrupted. In that case, no files are deleted, because the files that the manifest refers to are unknown.
    pub fn collect(&self) -> Result<u64> {
        // IMPORTANT: the files are listed before the lock is confirmed. A command that takes over the lock later gives its layers new names, so this command
        // does not delete them.
        let mut stored = Vec::new();
        for folder in [ROWS, FILES] {
            stored.extend(self.storage.names(folder)?.iter().map(|name| format!("{folder}/{name}")));
        }
        let mut used = HashSet::new();
        for id in self.ids()? {
            match self.read(&id)?.contents {
                Contents::Rows { tables } => used.extend(
                    tables.into_iter().flat_map(|table| table.layers).map(|layer| self.layer(&layer.file)),
                ),
                Contents::Files { files, .. } => {
                    used.extend(files.iter().map(|file| self.engine_file(&file.name)));
                }
            }
        }
        self.storage.confirm(&[])?;
        let mut removed = 0;
        for name in stored.iter().filter(|name| !used.contains(*name)) {
            self.storage.remove(name)?;
            removed += 1;
        }
        Ok(removed)
    }
}

/// Returns the name of a generation's manifest in the storage.
fn manifest(id: &str) -> String {
    format!("{GENERATIONS}/{id}.json")
}

#[cfg(test)]
mod tests;
