//! The folder of backups: its marker, its lock, its generations, and the removal of files that no generation contains.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Duration, Utc};
use serde::{Deserialize, Serialize};

use crate::backup::generation::{Contents, Generation};
use crate::backup::sealed;
use crate::failure::{Failure, Result};

/// The file that marks a folder of backups.
const MARKER: &str = "BACKUPS";
const GENERATIONS: &str = "generations";
const ROWS: &str = "rows";
const FILES: &str = "files";
/// The file with the progress of an unfinished generation.
pub(super) const WORKING: &str = "working.json";
/// The version of the folder's format.
const FORMAT: u32 = 1;

/// The content of the marker.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Marker {
    format: u32,
    /// The store whose backups are in the folder.
    source: String,
}

/// A folder of backups of one store.
#[derive(Debug)]
pub struct Repository {
    path: PathBuf,
    source: String,
    /// Held while a command writes to the folder.
    lock: Option<File>,
}

impl Repository {
    /// Opens a folder of backups for reading.
    ///
    /// # Errors
    /// `Refused` if the folder contains no backups, or backups of a newer version.
    pub fn open(path: &Path) -> Result<Self> {
        let marker: Option<Marker> = sealed::read(&path.join(MARKER))?;
        let Some(marker) = marker else {
            return Err(Failure::Refused(format!(
                "{} contains no backups of `tables backup`",
                path.display()
            )));
        };
        if marker.format > FORMAT {
            let help = "install a newer version of `tables`";
            return Err(Failure::Refused(format!("{} has format {}; {help}", path.display(), marker.format)));
        }
        Ok(Self { path: path.to_owned(), source: marker.source, lock: None })
    }

    /// Opens a folder of backups of a store for writing, and locks it. An empty or missing folder becomes a folder of backups.
    ///
    /// # Errors
    /// `Refused` if the folder contains something else, backups of another store, or is locked by another command.
    pub fn create(path: &Path, source: &str) -> Result<Self> {
        std::fs::create_dir_all(path).map_err(Failure::file(path.display()))?;
        if !path.join(MARKER).exists() {
            // A killed command may have left the beginning of the marker.
            let begun = sealed::part_of(Path::new(MARKER)).display().to_string();
            if names(path)?.iter().any(|name| *name != begun) {
                let help = "name an empty folder, or one with backups of this store";
                return Err(Failure::Refused(format!("{} contains other files; {help}", path.display())));
            }
            let marker = Marker { format: FORMAT, source: source.to_owned() };
            sealed::write(&path.join(MARKER), &marker)?;
        }
        let mut repository = Self::open(path)?;
        if repository.source != source {
            let (path, other) = (path.display(), &repository.source);
            return Err(Failure::Refused(format!(
                "{path} contains backups of {other}, not of {source}; name another folder"
            )));
        }
        for folder in [GENERATIONS, ROWS, FILES] {
            let folder = path.join(folder);
            std::fs::create_dir_all(&folder).map_err(Failure::file(folder.display()))?;
        }
        repository.acquire()?;
        Ok(repository)
    }

    /// Locks the folder against other commands that write to it.
    fn acquire(&mut self) -> Result<()> {
        let path = self.path.join(MARKER);
        let file = File::open(&path).map_err(Failure::file(path.display()))?;
        match file.try_lock() {
            Ok(()) => {
                self.lock = Some(file);
                Ok(())
            }
            Err(TryLockError::WouldBlock) => Err(Failure::Refused(format!(
                "another `tables backup` writes to {}; wait until it ends",
                self.path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(Failure::file(path.display())(error)),
        }
    }

    /// Returns the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the name of the store.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the path of a layer.
    #[must_use]
    pub fn layer(&self, file: &str) -> PathBuf {
        self.path.join(ROWS).join(file)
    }

    /// Returns the path of an engine's file.
    #[must_use]
    pub fn engine_file(&self, name: &str) -> PathBuf {
        self.path.join(FILES).join(name)
    }

    fn manifest(&self, id: &str) -> PathBuf {
        self.path.join(GENERATIONS).join(format!("{id}.json"))
    }

    /// Returns the names of all generations, oldest first.
    ///
    /// # Errors
    /// `File` if the folder cannot be read.
    pub fn ids(&self) -> Result<Vec<String>> {
        let folder = self.path.join(GENERATIONS);
        let mut ids = names(&folder)?;
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
    /// `Refused` if the generation does not exist or its manifest is damaged.
    pub fn read(&self, id: &str) -> Result<Generation> {
        sealed::read(&self.manifest(id))?
            .ok_or_else(|| Failure::Refused(format!("{} has no generation {id}", self.path.display())))
    }

    /// Reads the newest generation; `None` if there is none.
    ///
    /// # Errors
    /// `Refused` if its manifest is damaged.
    pub fn newest(&self) -> Result<Option<Generation>> {
        self.ids()?.last().map(|id| self.read(id)).transpose()
    }

    /// Reads the newest generation if no text is given, the one before it for `~1`, otherwise the one whose name starts with the text.
    ///
    /// # Errors
    /// `Refused` if no generation, or more than one, has such a name.
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
                self.path.display(),
                ids.join(", ")
            ))),
            ([_, ..], _) => Err(Failure::Refused(format!(
                "`{name}` matches {} generations; pass a longer prefix",
                found.len()
            ))),
        }
    }

    /// Returns the time by which a generation that begins now is named. It is later than that of all other generations.
    ///
    /// # Errors
    /// `File` if the folder cannot be read.
    pub fn next_time(&self, now: DateTime<Utc>) -> Result<DateTime<Utc>> {
        let last = self.ids()?.pop();
        let mut time = now;
        while last.as_ref().is_some_and(|last| Generation::name(time) <= *last) {
            // If the clock was set back, the new generation must still follow the older ones.
            let behind = self.newest()?.map_or(time, |newest| newest.began.max(time));
            time = behind + Duration::milliseconds(1);
        }
        Ok(time)
    }

    /// Adds a complete generation.
    ///
    /// # Errors
    /// `File` if the generation cannot be written.
    pub fn commit(&self, generation: &Generation) -> Result<()> {
        sealed::sync_folder(&self.layer("-"))?;
        sealed::sync_folder(&self.engine_file("-"))?;
        sealed::write(&self.manifest(&generation.id), generation)
    }

    /// Removes a generation. Its files remain until [`collect`](Self::collect).
    ///
    /// # Errors
    /// `File` if the generation cannot be removed.
    pub fn remove(&self, id: &str) -> Result<()> {
        let path = self.manifest(id);
        std::fs::remove_file(&path).map_err(Failure::file(path.display()))
    }

    /// Deletes the files that no generation contains, and returns their number.
    ///
    /// # Errors
    /// `Refused` for a damaged manifest. Its files are unknown, so nothing is deleted.
    pub fn collect(&self) -> Result<u64> {
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
        let mut removed = 0;
        for folder in [ROWS, FILES].map(|folder| self.path.join(folder)) {
            for path in names(&folder)?.into_iter().map(|name| folder.join(name)) {
                if !used.contains(&path) {
                    std::fs::remove_file(&path).map_err(Failure::file(path.display()))?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }
}

/// Returns the names in a folder; none if the folder does not exist.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found.map_err(Failure::file(folder.display()))?,
    };
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        Ok(entry.map_err(Failure::file(folder.display()))?.file_name().to_string_lossy().into_owned())
    };
    entries.map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generation(began: DateTime<Utc>) -> Generation {
        let contents = Contents::Rows { tables: Vec::new() };
        Generation { id: Generation::name(began), began, ended: began, contents }
    }

    #[test]
    fn a_folder_belongs_to_one_store_and_one_command() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backups");
        let first = Repository::create(&path, "account a").unwrap();
        let refused = Repository::create(&path, "account a").unwrap_err().to_string();
        assert!(refused.contains("another `tables backup` writes to"), "{refused}");
        drop(first);
        std::fs::rename(path.join(MARKER), path.join("BACKUPS.part")).unwrap();
        for folder in [GENERATIONS, ROWS, FILES] {
            std::fs::remove_dir(path.join(folder)).unwrap();
        }
        Repository::create(&path, "account a").unwrap();
        let refused = Repository::create(&path, "account b").unwrap_err().to_string();
        assert!(refused.contains("contains backups of account a, not of account b"), "{refused}");
        std::fs::write(folder.path().join("letter"), "Dear").unwrap();
        assert!(
            Repository::create(folder.path(), "a").unwrap_err().to_string().contains("contains other files")
        );
        assert!(Repository::open(folder.path()).unwrap_err().to_string().contains("contains no backups"));
    }

    #[test]
    fn generations_are_named_by_time_and_found_by_a_prefix_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::create(folder.path(), "a").unwrap();
        assert!(repository.find(None).unwrap_err().to_string().contains("has no generation"));
        let one = "2026-11-25T21:05:09.123Z".parse().unwrap();
        repository.commit(&generation(one)).unwrap();
        // The clock was set back by an hour.
        let two = repository.next_time(one - Duration::hours(1)).unwrap();
        repository.commit(&generation(two)).unwrap();
        assert_eq!(repository.ids().unwrap(), ["20261125T210509.123Z", "20261125T210509.124Z"]);
        assert_eq!(repository.find(Some("20261125T210509.123")).unwrap(), generation(one));
        assert_eq!(repository.find(None).unwrap(), generation(two));
        assert_eq!(repository.find(Some("~1")).unwrap(), generation(one));
        assert!(repository.find(Some("~2")).unwrap_err().to_string().contains("has no generation ~2"));
        assert!(repository.find(Some("2026")).unwrap_err().to_string().contains("matches 2 generations"));
        assert!(repository.find(Some("2025")).unwrap_err().to_string().contains("has no generation 2025"));
    }
}
