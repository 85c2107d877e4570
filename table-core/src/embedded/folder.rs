//! Durable creation of folders and deletion of files.

pub(crate) mod fault;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::embedded::disk::{Disk, fault::Task};
use crate::embedded::mend::Mend;
use crate::error::Result;

/// Makes a folder and those above it, durably, also where an earlier engine made them and stopped.
pub(crate) fn make(disk: &dyn Disk, folder: &Path) -> Result<()> {
    let here = |path: &Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() };
    let mut path: Vec<PathBuf> = folder.ancestors().map(here).collect();
    path.reverse();
    for path in &path {
        disk.create_dir(path).map_err(|error| Task::MakeFolder(folder.into()).refused(error))?;
    }
    let make = || {
        for parent in path.iter().rev().skip(1).filter(|_| Mend::SyncParents.is_in()) {
            match disk.sync_dir(parent) {
                // What this program may not read it has not made.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                outcome => outcome?,
            }
        }
        Ok(())
    };
    make().map_err(|error| Task::MakeFolder(folder.into()).failed(error))
}

/// Deletes the files of these names, durably; how many there were.
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
