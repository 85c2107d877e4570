//! Manages folders on the measured disk. They are below `target/benches` and are removed at the end of the run.

use std::path::{Path, PathBuf};

use crate::Outcome;

/// A folder that is removed with its content when this value is dropped, unless `keep` is set.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    /// Creates a new folder for one run.
    pub fn create(keep: bool) -> Outcome<Self> {
        Self::named(&std::process::id().to_string(), keep)
    }

    /// Opens the folder `name`, creating it if it does not exist. If `keep` is `true`, later runs can reuse it.
    pub fn named(name: &str, keep: bool) -> Outcome<Self> {
        // The executable is in `target/release`. `target/benches` is on the same disk and is ignored by git.
        let program = std::env::current_exe()?;
        let target = program.parent().and_then(Path::parent).ok_or("the program lies in no target folder")?;
        let path = target.join("benches").join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Self { path, keep })
    }

    /// Returns a subfolder that is removed when the returned value is dropped, even if the parent folder is kept.
    #[must_use]
    pub fn inside(&self, name: &str) -> Self {
        Self { path: self.join(name), keep: false }
    }

    /// Returns the path of `name` inside the folder.
    #[must_use]
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep
            && let Err(error) = std::fs::remove_dir_all(&self.path)
        {
            eprintln!("{} stays: {error}", self.path.display());
        }
    }
}

/// Returns the total size, in bytes, of the files in a folder whose names end with `ending`.
pub fn bytes_of(path: &Path, ending: &str) -> Outcome<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().ends_with(ending) {
            sum += entry.metadata()?.len();
        }
    }
    Ok(sum)
}

/// Returns the total size, in bytes, of all files in a folder and its subfolders. Files that disappear during the call are ignored.
pub fn bytes_below(path: &Path) -> Outcome<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        let Ok(metadata) = path.metadata() else { continue };
        sum += if metadata.is_dir() { bytes_below(&path)? } else { metadata.len() };
    }
    Ok(sum)
}

/// Waits until all earlier writes are on disk. Otherwise, they would slow down the next measurement.
pub fn settle() -> Outcome<()> {
    std::process::Command::new("sync").status().map(drop).map_err(Into::into)
}
