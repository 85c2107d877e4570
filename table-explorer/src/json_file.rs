//! A JSON file shared by several processes. Alternatively, its contents are kept in memory only.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::{Failure, Result};

/// Contents that are read from a file before each use and written after each change. Clones share the contents.
#[derive(Clone, Debug)]
pub(crate) struct JsonFile<T> {
    /// The path of the file; `None` if the contents are kept in memory and lost when the explorer ends.
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

    /// Runs a function on the contents, on a blocking thread. The file is read first, because another explorer may have changed it, and written if the
    /// function changed the contents.
    ///
    /// # Errors
    /// `Refused` if the file cannot be read or written. A file that cannot be read is never replaced.
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

/// Writes a file that only its owner can read. The write is atomic: a reader sees either the old or the new contents.
fn write(path: &Path, content: &impl Serialize) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // Another process may be writing its own draft at the same time.
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(&draft)?;
    serde_json::to_writer(&mut out, content)?;
    out.write_all(b"\n")?;
    out.sync_all()?;
    std::fs::rename(draft, path)
}

#[cfg(test)]
mod tests {
    use super::*;

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
