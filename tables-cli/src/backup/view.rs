//! Opens the engine files of a generation in a temporary folder.

use std::collections::HashSet;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use table_core::Engine;
use tempfile::TempDir;

use crate::backup::files::decode;
use crate::backup::generation::{Contents, Generation};
use crate::backup::repository::Repository;
use crate::backup::storage::Storage;
use crate::backup::storage::folder::{Locked, VIEW, VIEWS};
use crate::failure::{Failure, Result};

/// The engine files of a generation, opened for reading.
#[derive(Debug)]
pub struct View {
    /// The engine, opened read-only.
    pub engine: Engine,
    _folder: Option<ViewFolder>,
}

impl View {
    /// Opens a folder that was written by `Engine::backup`.
    ///
    /// # Errors
    /// `Store`, with the cause, if `Engine::open_read_only` fails.
    pub fn of_folder(path: &Path) -> Result<Self> {
        Ok(Self { engine: Engine::open_read_only(path)?, _folder: None })
    }

    /// Opens a generation. Its files are linked into a temporary folder, or copied if links are not supported.
    ///
    /// # Errors
    /// `Store`, with a cause such as `Corrupted`, if `Engine::open_read_only` fails. `File` if a file is missing.
    pub fn of_generation(repository: &Repository, generation: &Generation) -> Result<Self> {
        let folder = ViewFolder::create(repository.storage().local())?;
        Ok(Self { engine: folder.show(repository, generation)?, _folder: Some(folder) })
    }
}

/// A temporary folder for the engine files of a generation. If the process is killed, the folder remains until the next backup to the same folder.
#[derive(Debug)]
pub(super) struct ViewFolder {
    // IMPORTANT: the folder is removed before its lock is released.
    folder: TempDir,
    _lock: Option<Locked>,
}

impl ViewFolder {
    /// Creates an empty folder that only the current user can read. It is created in the backup folder, or elsewhere if the backups are in an object store or
    /// on a read-only medium.
    pub(super) fn create(backups: Option<&Path>) -> Result<Self> {
        let mut named = tempfile::Builder::new();
        named.prefix(VIEW);
        #[cfg(unix)]
        named.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let within = backups.and_then(|backups| {
            let lock = Locked::shared(&backups.join(VIEWS)).ok()??;
            Some(Self { folder: named.tempdir_in(backups).ok()?, _lock: Some(lock) })
        });
        if let Some(view) = within {
            return Ok(view);
        }
        let folder = named.prefix("tables-view-").tempdir().map_err(Failure::file("a temporary folder"))?;
        Ok(Self { folder, _lock: None })
    }

    /// Opens the engine of a generation. Its files are linked into the folder, or copied if links are not supported. Files of the previously opened generation
    /// are kept if this generation also contains them, and removed otherwise. The engine returned by the previous call must have been dropped.
    pub(super) fn show(&self, repository: &Repository, generation: &Generation) -> Result<Engine> {
        let Contents::Files { manifest, base, files } = &generation.contents else {
            return Err(Failure::Refused(format!(
                "generation {} contains no files of an engine",
                generation.id
            )));
        };
        let folder = self.folder.path();
        let (mut kept, names) =
            (HashSet::new(), files.iter().map(|file| file.name.as_str()).collect::<HashSet<_>>());
        for entry in std::fs::read_dir(folder).map_err(Failure::file(folder.display()))? {
            let name = entry.map_err(Failure::file(folder.display()))?.file_name();
            let path = folder.join(&name);
            match name.into_string() {
                Ok(name) if names.contains(name.as_str()) => drop(kept.insert(name)),
                _ => std::fs::remove_file(&path).map_err(Failure::file(path.display()))?,
            }
        }
        for file in files.iter().filter(|file| !kept.contains(&file.name)) {
            fetch(&**repository.storage(), &repository.engine_file(&file.name), &folder.join(&file.name))?;
        }
        for (name, bytes) in [("BACKUP", decode(manifest)?), ("BASE", decode(base)?)] {
            create(&folder.join(name))?.write_all(&bytes).map_err(Failure::file(folder.display()))?;
        }
        Ok(Engine::open_read_only(folder)?)
    }
}

/// Creates a new file. An existing file may be a link to a file in the backup, which must never be overwritten.
fn create(path: &Path) -> Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let name = path.file_name().unwrap_or_default().display();
            Err(Failure::Refused(format!("a generation contains the file {name} twice")))
        }
        created => created.map_err(Failure::file(path.display())),
    }
}

/// Creates a link to a file, or copies the file if links are not supported.
fn fetch(storage: &dyn Storage, name: &str, to: &Path) -> Result<()> {
    if storage.local().is_some_and(|folder| std::fs::hard_link(folder.join(name), to).is_ok()) {
        return Ok(());
    }
    let (mut from, mut copy) = (storage.open(name)?, create(to)?);
    std::io::copy(&mut from, &mut copy).map(drop).map_err(Failure::file(to.display()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_view_has_a_new_folder_that_other_users_cannot_read() {
        let backups = tempfile::tempdir().unwrap();
        for within in [Some(backups.path()), Some(Path::new("/missing")), None] {
            let (one, two) = (ViewFolder::create(within).unwrap(), ViewFolder::create(within).unwrap());
            let mode = std::fs::metadata(one.folder.path()).unwrap().permissions().mode() & 0o777;
            assert!(mode == 0o700 && one.folder.path() != two.folder.path(), "{mode:o}");
        }
    }

    #[test]
    fn the_folder_of_a_killed_command_is_removed_by_the_next_backup_without_a_running_command() {
        let backups = tempfile::tempdir().unwrap();
        let create = || drop(Repository::create(backups.path(), "a").unwrap());
        create();
        let killed = ViewFolder::create(Some(backups.path())).unwrap().folder.keep();
        std::fs::write(killed.join("BASE"), "").unwrap();
        // Temporary folders created by earlier releases have no lock.
        let old = backups.path().join("view-old");
        create();
        assert!(!killed.exists());
        std::fs::create_dir(&old).unwrap();
        let running = ViewFolder::create(Some(backups.path())).unwrap();
        create();
        assert!(running.folder.path().exists() && old.exists());
        drop(running);
        create();
        let left = std::fs::read_dir(backups.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = left.filter_map(|name| name.into_string().ok()).collect();
        assert!(!left.iter().any(|name| name.starts_with(VIEW)), "{left:?}");
    }
}
