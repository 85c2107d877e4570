//! Operations on folders. They open handles that stay valid after a rename, create folders durably, delete files, and replace hard-linked files with copies.

pub(crate) mod fault;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use table_store::Result;

use crate::disk::{Disk, fault::Task};

/// The temporary name of the copy that replaces a hard-linked file.
pub(crate) const COPY_NEW: &str = "COPY.new";
/// The number of bytes copied at a time.
const COPIED: u64 = 1 << 20;

/// Returns the absolute path of a folder. It remains valid if the process changes its working directory.
pub(crate) fn absolute(folder: &Path) -> Result<PathBuf> {
    std::path::absolute(folder).map_err(|error| Task::OpenFolder(folder.into()).failed(error))
}

/// Returns a disk that accesses the files of a folder through a handle to the folder. If the disk does not support such handles, it is returned itself.
pub(crate) fn hold(disk: &Arc<dyn Disk>, folder: &Path) -> Result<Arc<dyn Disk>> {
    let held = disk.hold(folder).map_err(|error| Task::OpenFolder(folder.into()).refused(error))?;
    Ok(held.unwrap_or_else(|| Arc::clone(disk)))
}

/// Returns the disk from [`hold`], or `disk` itself if the folder does not exist.
pub(crate) fn hold_existing(disk: &Arc<dyn Disk>, folder: &Path) -> Result<Arc<dyn Disk>> {
    match disk.hold(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Arc::clone(disk)),
        held => {
            let held = held.map_err(|error| Task::OpenFolder(folder.into()).refused(error))?;
            Ok(held.unwrap_or_else(|| Arc::clone(disk)))
        }
    }
}

/// Creates a folder and its parent folders durably, even if an earlier engine was interrupted after creating them.
pub(crate) fn make(disk: &dyn Disk, folder: &Path) -> Result<()> {
    let here = |path: &Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() };
    let mut path: Vec<PathBuf> = folder.ancestors().map(here).collect();
    path.reverse();
    for path in &path {
        disk.create_dir(path).map_err(|error| Task::MakeFolder(folder.into()).refused(error))?;
    }
    let make = || {
        for parent in path.iter().rev().skip(1) {
            match disk.sync_dir(parent) {
                // The program cannot read this folder, so it has not created the folder and need not sync it.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                // Some file systems, such as squashfs, cannot sync folders. If a subfolder is on a file system that can, the subfolder is a mount point, and
                // this program has not created it. The engine's folder itself is always synced.
                Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {}
                outcome => outcome?,
            }
        }
        Ok(())
    };
    make().map_err(|error| Task::MakeFolder(folder.into()).failed(error))
}

/// Durably deletes the files whose names satisfy `which`. Returns the number of deleted files.
pub(crate) fn delete(disk: &dyn Disk, folder: &Path, which: impl Fn(&str) -> bool) -> Result<u64> {
    let remove = || {
        let names: Vec<String> = disk.list(folder)?.into_iter().filter(|name| which(name)).collect();
        for name in &names {
            disk.remove(&folder.join(name))?;
        }
        if !names.is_empty() {
            disk.sync_dir(folder)?;
        }
        Ok(names.len() as u64)
    };
    remove().map_err(|error| Task::DeleteFiles.failed(error))
}

/// Durably replaces each given file that has other hard links with a copy. Missing files are ignored. Returns `true` if a file was replaced.
///
/// Snapshots are often folders of hard links. Writing to a file that a snapshot links to would also change the snapshot.
///
/// # Errors
/// `DiskFull`, `ServerBusy` or `Io` if the disk reports an error. After an error, each file is either the original or its copy.
pub(crate) fn separate(disk: &dyn Disk, folder: &Path, files: &[PathBuf]) -> Result<bool> {
    let mut is_any = false;
    for file in files {
        let separated = separate_file(disk, folder, file);
        is_any |= separated.map_err(|error| Task::WriteFile(file.clone()).refused(error))?;
    }
    Ok(is_any)
}

fn separate_file(disk: &dyn Disk, folder: &Path, path: &Path) -> io::Result<bool> {
    let file = match disk.open_to_read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    if !file.has_other_names()? {
        return Ok(false);
    }
    let copy = disk.open(&folder.join(COPY_NEW), true)?;
    let (length, mut offset) = (file.len()?, 0);
    while offset < length {
        let mut bytes = vec![0; usize::try_from((length - offset).min(COPIED)).unwrap_or_default()];
        file.read_at(offset, &mut bytes)?;
        copy.write_at(offset, &bytes)?;
        offset += bytes.len() as u64;
    }
    copy.sync_data()?;
    disk.rename(&folder.join(COPY_NEW), path)?;
    disk.sync_dir(folder)?;
    Ok(true)
}
