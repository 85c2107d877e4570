//! Incomplete folders, and the remains of killed commands.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{END, Incomplete, part_of, split, target_of};
use crate::failure::{Failure, Result};

/// A folder that receives its final name when it is complete, and is removed if the value is dropped earlier.
#[derive(Debug)]
pub(crate) struct IncompleteFolder {
    /// A file that marks the folder as in use.
    mark: Incomplete,
}

impl IncompleteFolder {
    /// Reserves the name of a folder next to `path`. The folder itself does not exist yet.
    ///
    /// # Errors
    /// `File` if the file that marks the folder as in use cannot be created.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        Ok(Self { mark: Incomplete::create(path)? })
    }

    /// Returns the temporary path of the folder.
    pub(crate) fn path(&self) -> PathBuf {
        folder_of(self.mark.path())
    }

    /// Gives the folder its final name. An empty folder with this name is replaced.
    ///
    /// # Errors
    /// `File` if the folder cannot be renamed, for example because a folder with this name is not empty.
    pub(crate) fn complete(self) -> Result<()> {
        let path = &self.mark.path;
        // Some systems cannot rename a folder to the name of an existing empty folder.
        match std::fs::remove_dir(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Failure::file(path.display())(error));
            }
            _ => {}
        }
        std::fs::rename(self.path(), path).map_err(Failure::file(path.display()))
    }
}

impl Drop for IncompleteFolder {
    fn drop(&mut self) {
        // After `complete`, the temporary folder no longer exists. If a folder cannot be removed, it only takes up space.
        let _ = std::fs::remove_dir_all(self.path());
    }
}

/// Removes incomplete files and folders left next to `path` by killed commands. Files and folders that cannot be removed are ignored, because they only take up
/// space.
pub(crate) fn remove_remains(path: &Path) {
    let path = target_of(path);
    let (folder, prefix) = split(&path);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_own = name.to_str().is_some_and(|name| name.starts_with(&prefix) && name.ends_with(END));
        let left = entry.path();
        if let Some(file) = is_own.then(|| File::open(&left).ok()).flatten()
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_dir_all(folder_of(&left));
            let _ = std::fs::remove_file(&left);
        }
    }
}

/// Returns the temporary path of a folder, given the path of the file that marks it as in use.
fn folder_of(mark: &Path) -> PathBuf {
    part_of(mark, "folder")
}

#[cfg(test)]
mod tests {
    use super::super::tests::names;
    use super::*;

    #[test]
    fn only_remains_of_commands_that_have_ended_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let running = IncompleteFolder::create(&path).unwrap();
        std::fs::create_dir_all(running.path().join("deep")).unwrap();
        let own = ["a.part", "a.tables-1.jsonl"];
        for name in own {
            std::fs::write(folder.path().join(name), "of the user").unwrap();
        }
        std::fs::write(folder.path().join("a.tables-killed.part"), "").unwrap();
        std::fs::create_dir_all(folder.path().join("a.tables-killed.part.folder").join("deep")).unwrap();
        remove_remains(&path);
        assert!(running.path().join("deep").exists() && names(folder.path()).len() == 4);
        drop(running);
        assert_eq!(names(folder.path()), own);
    }
}
