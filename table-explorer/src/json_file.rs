//! A JSON file shared by several processes. If it has no path, the contents are kept only in memory.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::{Failure, Result};

/// The contents of a JSON file, reread before each use and written after each change. Clones share the contents.
#[derive(Clone, Debug)]
pub(crate) struct JsonFile<T> {
    /// The file's path; `None` if the contents are kept only in memory.
    path: Option<PathBuf>,
    content: Arc<Mutex<T>>,
}

impl<T: Default> Default for JsonFile<T> {
    fn default() -> Self {
        Self { path: None, content: Arc::default() }
    }
}

impl<T: Clone + Default + PartialEq + Serialize + DeserializeOwned + Send + 'static> JsonFile<T> {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path: Some(path), ..Self::default() }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Runs a function on the contents, on a blocking thread. The file is reread first, because another explorer may have changed it, and written afterwards if
    /// the function changed the contents.
    ///
    /// # Errors
    /// `Refused` if the file cannot be read or written. A file that cannot be read is never overwritten.
    pub(crate) async fn run<R: Send + 'static>(
        &self,
        run: impl FnOnce(&mut T) -> R + Send + 'static,
    ) -> Result<R> {
        let file = self.clone();
        let done = tokio::task::spawn_blocking(move || file.run_here(run)).await;
        done.map_err(|error| Failure::Refused(format!("a file of the explorer was not read: {error}")))?
    }

    fn run_here<R>(&self, run: impl FnOnce(&mut T) -> R) -> Result<R> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = &self.path else { return Ok(run(&mut content)) };
        let refuse = |error: io::Error| Failure::Refused(format!("{}: {error}", path.display()));
        let _lock = lock(path).map_err(refuse)?;
        let before: T = read(path).map_err(refuse)?;
        *content = before.clone();
        let answer = run(&mut content);
        if *content != before {
            write(path, &*content).map_err(refuse)?;
        }
        Ok(answer)
    }
}

fn read<T: Default + DeserializeOwned>(path: &Path) -> io::Result<T> {
    match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(T::default()),
        bytes => Ok(serde_json::from_slice(&bytes?)?),
    }
}

/// Locks a second file in the same folder, waiting until no other process is changing the contents. Returns `None` if the lock file cannot be created, for
/// example without write permission to the folder. In that case, no process of this user can change the contents either.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let Ok(file) = folder.and_then(|()| private().truncate(false).open(path.with_extension("lock"))) else {
        return Ok(None);
    };
    file.lock().map(|()| Some(file))
}

/// Returns options that open or create a file readable only by its owner.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Writes a file readable only by its owner. The write is atomic: readers see either the old or the new contents.
fn write(path: &Path, content: &impl Serialize) -> io::Result<()> {
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let mut out = private().truncate(true).open(&draft)?;
    serde_json::to_writer(&mut out, content)?;
    out.write_all(b"\n")?;
    out.sync_all()?;
    std::fs::rename(draft, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explorers_that_change_a_file_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("growth.json");
        std::thread::scope(|scope| {
            // Each explorer has its own contents, like a separate process.
            for explorer in 0..4_u8 {
                let file = JsonFile::<Vec<u8>>::at(path.clone());
                scope.spawn(move || (0..20).for_each(|_| file.run_here(|all| all.push(explorer)).unwrap()));
            }
        });
        assert_eq!(read::<Vec<u8>>(&path).unwrap().len(), 80);
    }

    #[tokio::test]
    async fn two_explorers_share_a_file_that_only_its_owner_reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("queries.json");
        let (one, other) = (JsonFile::<Vec<u8>>::at(path.clone()), JsonFile::<Vec<u8>>::at(path.clone()));
        one.run(|content| content.push(1)).await.unwrap();
        other.run(|content| content.push(2)).await.unwrap();
        assert_eq!(one.run(|content| content.clone()).await.unwrap(), [1, 2]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::write(&path, "not JSON").unwrap();
        assert!(one.run(|content| content.push(3)).await.is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "not JSON", "an unreadable file is not replaced");
    }
}
