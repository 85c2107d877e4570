//! Tests of the verification of backups.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use table_core::{DynTableStore, Engine, TableEntity, TableStoreExt};

use crate::backup::capture::{CaptureOptions, capture};
use crate::backup::files::capture_files;
use crate::backup::repository::Repository;
use crate::backup::storage::{Append, Folder, Storage};
use crate::backup::verify::verify;
use crate::failure::Result;

/// A backup folder that counts the bytes read from layers and engine files.
#[derive(Debug)]
struct Counting {
    folder: Folder,
    bytes: Arc<AtomicU64>,
}

/// A file that counts the bytes read from it.
struct CountedFile {
    file: Box<dyn Read + Send>,
    bytes: Arc<AtomicU64>,
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.folder.fmt(f)
    }
}

impl Storage for Counting {
    fn is_unused(&self) -> Result<bool> {
        self.folder.is_unused()
    }

    fn prepare(&self, folders: &[&str]) -> Result<()> {
        self.folder.prepare(folders)
    }

    fn names(&self, folder: &str) -> Result<Vec<String>> {
        self.folder.names(folder)
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.folder.read(name)
    }

    fn replace(&self, name: &str, content: &[u8]) -> Result<()> {
        self.folder.replace(name, content)
    }

    fn begin(&self, name: &str, content: &[u8]) -> Result<()> {
        self.folder.begin(name, content)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.folder.remove(name)
    }

    fn length(&self, name: &str) -> Result<Option<u64>> {
        self.folder.length(name)
    }

    fn open(&self, name: &str) -> Result<Box<dyn Read + Send>> {
        Ok(Box::new(CountedFile { file: self.folder.open(name)?, bytes: Arc::clone(&self.bytes) }))
    }

    fn append(&self, name: &str, length: u64) -> Result<Box<dyn Append>> {
        self.folder.append(name, length)
    }

    fn lock(&self) -> Result<()> {
        self.folder.lock()
    }

    fn confirm(&self, folders: &[&str]) -> Result<()> {
        self.folder.confirm(folders)
    }

    fn local(&self) -> Option<&Path> {
        None
    }
}

#[tokio::test]
async fn each_layer_is_read_once() {
    let folder = crate::backup::tests::folder();
    let store = DynTableStore::new(Engine::in_memory());
    let table = store.untyped("Things").unwrap().create_if_missing().await.unwrap();
    for generation in 0..5 {
        for row in 0..40 {
            let entity = TableEntity::new("p", format!("{row:02}")).unwrap();
            // The first layer is the longest. Otherwise, the next one would contain all rows.
            let value = if row < 5 { generation } else { 0 };
            table.insert_or_replace(&entity.with("V", value)).await.unwrap();
        }
        let repository = Repository::create(folder.path(), "store").unwrap();
        capture(&repository, &store, &CaptureOptions::default()).await.unwrap();
    }
    let rows = std::fs::read_dir(folder.path().join("rows")).unwrap();
    let lengths: Vec<_> = rows.map(|entry| entry.unwrap().metadata().unwrap().len()).collect();
    assert_eq!(lengths.len(), 5);
    let bytes = Arc::new(AtomicU64::new(0));
    let storage = Counting { folder: Folder::new(folder.path()), bytes: Arc::clone(&bytes) };
    let found = verify(&Repository::open_in(Arc::new(storage)).unwrap()).await.unwrap();
    assert!(
        found.damage.is_empty() && (found.generations, found.files, found.rows) == (5, 5, 40),
        "{found:?}"
    );
    assert_eq!(bytes.load(Ordering::Relaxed), lengths.iter().sum::<u64>());
}

/// Returns the number of bytes that this thread has read from files and other sources.
#[cfg(target_os = "linux")]
fn bytes_read() -> u64 {
    let counts = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse().ok());
    read.unwrap()
}

/// Tests that a file in several generations is read once, not once for each generation, even if the storage is a folder on this machine.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn each_engine_file_is_read_once() {
    let folder = crate::backup::tests::folder();
    let (data, backups) = (folder.path().join("data"), folder.path().join("backups"));
    let engine = Engine::open(&data).unwrap();
    let table = engine.untyped("Things").unwrap().create_if_missing().await.unwrap();
    for generation in 0..5 {
        // The first generation is by far the largest. Otherwise, the engine would merge its file with later ones.
        for row in 0..if generation == 0 { 200 } else { 1 } {
            let bytes: Vec<u8> =
                (0..8_000_u32).map(|at| (at.wrapping_mul(row + 1) >> 3).to_le_bytes()[0]).collect();
            let entity = TableEntity::new("p", format!("{generation}_{row:03}")).unwrap();
            table.insert(&entity.with("V", bytes)).await.unwrap();
        }
        let repository = Repository::create(&backups, "store").unwrap();
        capture_files(&repository, &engine).await.unwrap();
    }
    let files = std::fs::read_dir(backups.join("files")).unwrap();
    let length: u64 = files.map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert!(length > 1_000_000, "{length}");

    let before = bytes_read();
    let found = verify(&Repository::open(&backups).unwrap()).await.unwrap();
    let read = bytes_read() - before;
    assert!(found.damage.is_empty() && found.generations == 5, "{found:?}");
    // The descriptions of the generations are read as well.
    assert!((length..length + 200_000).contains(&read), "{read} of {length} bytes");
    engine.close().await.unwrap();
}
