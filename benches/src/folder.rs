//! Folders on the disk that is measured: all below `target/benches`, gone when the run is over.

use std::path::{Path, PathBuf};

use crate::Outcome;

/// A folder that is removed with all it holds when this value goes.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    /// A new folder of one run.
    pub fn create(keep: bool) -> Outcome<Self> {
        Self::named(&std::process::id().to_string(), keep)
    }

    /// A folder that runs find again if they keep it.
    pub fn named(name: &str, keep: bool) -> Outcome<Self> {
        // The program lies in `target/release`: its neighbour is on the same disk and ignored by git.
        let program = std::env::current_exe()?;
        let target = program.parent().and_then(Path::parent).ok_or("the program lies in no target folder")?;
        let path = target.join("benches").join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Self { path, keep })
    }

    /// A folder in it that goes before it, whatever is kept.
    #[must_use]
    pub fn inside(&self, name: &str) -> Self {
        Self { path: self.join(name), keep: false }
    }

    /// A place in it.
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

/// The bytes of all files of a folder whose names end so.
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

/// The bytes of all files of a folder and of those in it. Files that go meanwhile count nothing.
pub fn bytes_below(path: &Path) -> Outcome<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        let Ok(metadata) = path.metadata() else { continue };
        sum += if metadata.is_dir() { bytes_below(&path)? } else { metadata.len() };
    }
    Ok(sum)
}

/// Waits until what was written before is on the disk, so that a row does not pay for the one before it.
pub fn settle() -> Outcome<()> {
    std::process::Command::new("sync").status().map(drop).map_err(Into::into)
}
