//! Backs up a folder of the embedded engine as a consistent snapshot of its files. Only new files are copied.

use std::io::Read;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::Utc;
use table_core::Engine;
use table_core::embedded::{BackupFile, BackupImage, CopyReport, EngineOptions};

use crate::backup::generation::{Contents, EngineFile, Generation};
use crate::backup::repository::Repository;
use crate::backup::storage::Storage;
use crate::backup::storage::folder::sync_folder;
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

/// Decodes the Base64 text of a generation.
///
/// # Errors
/// `Refused` if the text is not Base64.
pub(super) fn decode(text: &str) -> Result<Vec<u8>> {
    STANDARD.decode(text).map_err(|_| Failure::Refused("a generation has text that is not Base64".to_owned()))
}

#[cfg(all(test, unix))]
mod tests {
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
}
