//! Backs up a folder of the embedded engine as a consistent snapshot of its files. Only new files are copied.

use std::collections::HashSet;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::Utc;
use table_core::Engine;
use table_core::embedded::{BackupFile, BackupImage, CopyReport, EngineOptions};
use tempfile::TempDir;

use crate::backup::generation::{Contents, EngineFile, Generation};
use crate::backup::repository::Repository;
use crate::backup::storage::Storage;
use crate::backup::storage::folder::{Locked, VIEW, VIEWS, sync_folder};
use crate::failure::{Failure, Result};
use crate::incomplete::{IncompleteFolder, remove_remains};

/// The maximum number of bytes copied at a time.
const PIECE: usize = 1 << 20;

/// The result of backing up a folder.
#[derive(Debug)]
pub struct CapturedFiles {
    /// The new generation.
    pub generation: Generation,
    /// The number of files that were copied.
    pub copied: u64,
    /// The number of bytes that were copied.
    pub copied_bytes: u64,
    /// The number of files that the backup folder already contained.
    pub kept: u64,
    /// The number of files that were deleted because no generation refers to them, or the reason why they were kept.
    pub collected: Result<u64>,
}

/// Creates a new generation with all writes that were acknowledged before the call.
///
/// # Errors
/// `Store`, with the cause, if `Engine::backup_image` fails, for example with `Corrupted` if an engine file is corrupted. Any error from the folder.
pub async fn capture_files(repository: &Repository, engine: &Engine) -> Result<CapturedFiles> {
    let began = Utc::now();
    let id = repository.next_id(began)?;
    let image = engine.backup_image().await?;
    let earlier = repository.newest_base()?.map(|base| decode(&base)).transpose()?;
    let (storage, place) = (&**repository.storage(), repository.storage().to_string());
    let (mut copied, mut copied_bytes, mut kept, mut files) = (0, 0, 0, Vec::new());
    for file in image.files(earlier.as_deref(), &place)? {
        storage.keep_lock()?;
        let path = repository.engine_file(&file.name);
        let length = storage.length(&path)?;
        // An earlier backup that was killed may have copied the file. Comparing the file is cheaper than copying it again.
        if length == Some(file.bytes) && (file.kept || is_equal(&image, &file, storage, &path)?) {
            kept += 1;
        } else {
            copy(&image, &file, storage, &path)?;
            copied += 1;
            copied_bytes += file.bytes;
        }
        files.push(EngineFile { name: file.name.clone(), bytes: file.bytes });
    }
    let contents = Contents::Files {
        manifest: STANDARD.encode(image.manifest()),
        base: STANDARD.encode(image.base()),
        files,
    };
    let generation = Generation { id, began, ended: Utc::now().max(began), contents };
    repository.commit(&generation)?;
    let collected = repository.collect();
    Ok(CapturedFiles { generation, copied, copied_bytes, kept, collected })
}

/// Calls a function with the offset and length of each piece of a file, until a call returns `false`. Returns `true` if every call returned `true`.
fn pieces(bytes: u64, mut piece: impl FnMut(u64, usize) -> Result<bool>) -> Result<bool> {
    let mut offset = 0;
    while offset < bytes {
        let length = usize::try_from(bytes - offset).map_or(PIECE, |rest| rest.min(PIECE));
        if !piece(offset, length)? {
            return Ok(false);
        }
        offset += length as u64;
    }
    Ok(true)
}

fn copy(image: &BackupImage, file: &BackupFile, storage: &dyn Storage, name: &str) -> Result<()> {
    image.check(file)?;
    let mut to = storage.append(name, 0)?;
    let mut buffer = vec![0; PIECE];
    pieces(file.bytes, |offset, length| {
        let buffer = buffer.get_mut(..length).unwrap_or_default();
        image.read(file, offset, buffer)?;
        to.write(buffer)?;
        Ok(true)
    })?;
    to.sync()
}

fn is_equal(image: &BackupImage, file: &BackupFile, storage: &dyn Storage, name: &str) -> Result<bool> {
    let mut copy = storage.open(name)?;
    let (mut ours, mut theirs) = (vec![0; PIECE], vec![0; PIECE]);
    pieces(file.bytes, |offset, length| {
        let (ours, theirs) =
            (ours.get_mut(..length).unwrap_or_default(), theirs.get_mut(..length).unwrap_or_default());
        image.read(file, offset, theirs)?;
        copy.read_exact(ours).map_err(Failure::file(name))?;
        // Writes renew the lock, but comparing files writes nothing, so the lock must be renewed explicitly.
        storage.keep_lock()?;
        Ok(ours == theirs)
    })
}

/// Restores all files of a generation to a folder that is empty or does not exist. Every block is checked. The folder is created under a temporary name, and
/// renamed when it is complete. If a restore is interrupted, call the function again.
///
/// # Errors
/// - `Store` with the code `Corrupted`, the file and the offset if a file is corrupted.
/// - `Store` with the code `FolderNotOurs` if the folder is not empty.
pub fn restore_files(repository: &Repository, manifest: &str, base: &str, to: &Path) -> Result<CopyReport> {
    let (manifest, base) = (decode(manifest)?, decode(base)?);
    completed(to, |to| {
        let restoration = EngineOptions::new().restoration(&manifest, &base, to)?;
        let mut buffer = vec![0; PIECE];
        for file in restoration.files() {
            let path = repository.engine_file(&file.name);
            let mut from = repository.storage().open(&path)?;
            let mut offset = 0;
            loop {
                let length = from.read(&mut buffer).map_err(Failure::file(&path))?;
                if length == 0 {
                    break;
                }
                restoration.write(&file, offset, buffer.get(..length).unwrap_or_default())?;
                offset += length as u64;
            }
        }
        Ok(restoration.finish()?)
    })
}

/// Like [`restore_files`], but restores a folder that `Engine::backup` wrote.
///
/// # Errors
/// `Store`, with the cause, if `Engine::restore` fails.
pub fn restore_folder(from: &Path, to: &Path) -> Result<CopyReport> {
    completed(to, |to| Ok(Engine::restore(from, to)?))
}

/// Removes the leftovers of interrupted calls, lets `fill` write a folder under a temporary name, and then renames the folder to `to`.
fn completed(to: &Path, fill: impl FnOnce(&Path) -> Result<CopyReport>) -> Result<CopyReport> {
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).map_err(Failure::file(parent.display()))?;
    }
    remove_remains(to);
    let part = IncompleteFolder::create(to)?;
    let report = fill(&part.path())?;
    part.complete()?;
    to.parent().map_or(Ok(()), sync_folder)?;
    Ok(report)
}

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

fn decode(text: &str) -> Result<Vec<u8>> {
    STANDARD.decode(text).map_err(|_| Failure::Refused("a generation has text that is not Base64".to_owned()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_second_restore_to_a_folder_neither_harms_nor_replaces_the_first() {
        let parent = tempfile::tempdir().unwrap();
        let to = parent.path().join("deep").join("to");
        let fill = |folder: &Path, name: &str| {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join(name), "").map_err(Failure::file(name))?;
            Ok(CopyReport::default())
        };
        let second = completed(&to, |folder| {
            fill(folder, "second")?;
            completed(&to, |folder| fill(folder, "first"))?;
            assert!(folder.join("second").exists());
            Ok(CopyReport::default())
        });
        second.unwrap_err();
        assert!(to.join("first").exists() && !to.join("second").exists());
        assert_eq!(std::fs::read_dir(to.parent().unwrap()).unwrap().count(), 1);
        completed(&parent.path().join("other"), |folder| {
            fill(folder, "a")?;
            Err(Failure::Refused("damaged".to_owned()))
        })
        .unwrap_err();
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 1);
    }

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
