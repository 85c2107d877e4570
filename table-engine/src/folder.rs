//! Folders: handles that survive a rename of the folder, durable creation, and deletion of files.

pub(crate) mod fault;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use table_store::error::Result;

use crate::disk::{Disk, fault::Task};

/// Returns an absolute path, which stays valid when the process changes its working directory.
pub(crate) fn absolute(folder: &Path) -> Result<PathBuf> {
    std::path::absolute(folder).map_err(|error| Task::OpenFolder(folder.into()).failed(error))
}

/// Returns a disk that accesses the files of a folder through a handle of the folder, if the disk supports such handles.
pub(crate) fn hold(disk: &Arc<dyn Disk>, folder: &Path) -> Result<Arc<dyn Disk>> {
    let held = disk.hold(folder).map_err(|error| Task::OpenFolder(folder.into()).refused(error))?;
    Ok(held.unwrap_or_else(|| Arc::clone(disk)))
}

/// Returns a disk like [`hold`], or the disk itself if the folder does not exist.
pub(crate) fn hold_existing(disk: &Arc<dyn Disk>, folder: &Path) -> Result<Arc<dyn Disk>> {
    match disk.hold(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Arc::clone(disk)),
        held => {
            let held = held.map_err(|error| Task::OpenFolder(folder.into()).refused(error))?;
            Ok(held.unwrap_or_else(|| Arc::clone(disk)))
        }
    }
}

/// Creates a folder and its parent folders durably, even if an earlier engine created them and was then interrupted.
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
                // A folder that this program may not read was not created by it.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                outcome => outcome?,
            }
        }
        Ok(())
    };
    make().map_err(|error| Task::MakeFolder(folder.into()).failed(error))
}

/// Deletes the files with the given names durably. Returns the number of deleted files.
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
