//! The files of a folder: names of bases, and how files are made and deleted durably (`docs/format.md`, "Folder").

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::embedded::base::Base;
use crate::embedded::disk::Disk;
use crate::embedded::journal::failed;
use crate::error::{Error, ErrorCode, Result};

const SUFFIX: &str = ".base";
const NEW_SUFFIX: &str = ".base.new";

fn base_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}{SUFFIX}"))
}

/// Where a base is written before it is whole.
pub(crate) fn base_new_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}{NEW_SUFFIX}"))
}

/// The number in a base's name; `None` if it is none, or not whole.
pub(crate) fn base_number(name: &str) -> Option<u64> {
    name.strip_suffix(SUFFIX)?.parse().ok()
}

/// Whether a file was being written when the engine stopped.
pub(crate) fn is_unfinished(name: &str) -> bool {
    name.ends_with(NEW_SUFFIX)
}

/// Makes a folder and those above it, durably, also where an earlier engine made them and stopped.
pub(crate) fn make(disk: &dyn Disk, folder: &Path) -> Result<()> {
    let here = |path: &Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() };
    let mut path: Vec<PathBuf> = folder.ancestors().map(here).collect();
    path.reverse();
    let make = || {
        for folder in &path {
            disk.create_dir(folder)?;
        }
        for parent in path.iter().rev().skip(1) {
            match disk.sync_dir(parent) {
                // What this program may not read it has not made.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                outcome => outcome?,
            }
        }
        Ok(())
    };
    make().map_err(|error| failed(&format!("the folder {} cannot be made", folder.display()), error))
}

/// Makes a base without rows in a file of this path.
pub(crate) fn create_base(disk: &dyn Disk, path: &Path, cache_bytes: usize) -> Result<Base> {
    let file = disk.open(path, true).map_err(|error| failed("the base cannot be created", error))?;
    Base::open(file, cache_bytes)
}

/// Opens the base of a number.
pub(crate) fn open_base(disk: &dyn Disk, folder: &Path, number: u64, cache_bytes: usize) -> Result<Base> {
    let path = base_path(folder, number);
    let io = |error| failed("the base cannot be opened", error);
    let file = disk.open(&path, false).map_err(io)?;
    // IMPORTANT: an empty file would be made a base without rows, and nothing but its name tells that rows are lost.
    if file.is_empty().map_err(io)? {
        let message = format!("the base {} is empty: restore the folder from a copy", path.display());
        return Err(Error::new(ErrorCode::Corrupted, message));
    }
    Base::open(file, cache_bytes)
}

/// Gives a new base, whole and closed, its name, durably.
pub(crate) fn name_base(disk: &dyn Disk, folder: &Path, number: u64) -> Result<()> {
    let new = base_new_path(folder, number);
    let name = || {
        // IMPORTANT: what is renamed is whole on the disk: closing a base writes to it once more.
        disk.open(&new, false)?.sync_data()?;
        disk.rename(&new, &base_path(folder, number))?;
        disk.sync_dir(folder)
    };
    name().map_err(|error| failed("the base cannot be renamed", error))
}

/// Deletes the files of these names, durably.
pub(crate) fn delete(disk: &dyn Disk, folder: &Path, which: impl Fn(&str) -> bool) -> Result<()> {
    let remove = || {
        let names: Vec<String> = disk.list(folder)?.into_iter().filter(|name| which(name)).collect();
        for name in &names {
            disk.remove(&folder.join(name))?;
        }
        if names.is_empty() { Ok(()) } else { disk.sync_dir(folder) }
    };
    remove().map_err(|error| failed("files that are no longer needed cannot be deleted", error))
}
