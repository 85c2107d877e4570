//! The data of a full run. Each contender (storage library) stores ten times the usual number of entities in a separate folder. At most two contenders are open
//! at the same time.

use std::path::PathBuf;
use std::time::Instant;

use crate::Outcome;
use crate::data::{PARTITION, Reading};
use crate::folder::{Folder, settle};
use crate::options::Options;
use crate::peer::CACHE;
use crate::peer::bytes::pair;
use crate::peer::store::{Kind, Store};
use crate::report::short;

/// The number of readings sampled to estimate the total size.
const SAMPLE: u32 = 10_000;

/// The folders of the contenders in a full run.
#[derive(Debug)]
pub struct Large {
    /// The options of the run.
    pub options: Options,
    /// The number of entities stored by each contender.
    pub entities: u32,
    /// The average size of a key and its row, in bytes.
    pub row_bytes: u64,
    folder: Folder,
}

impl Large {
    /// Chooses the folders, which are filled on first use. With `--keep`, the next run with the same number of entities reuses them.
    pub fn set(options: &Options) -> Outcome<Self> {
        let entities = options.entities.saturating_mul(10);
        let folder = Folder::named(&format!("large-{}", short(entities.into())), options.keep)?;
        let mut bytes = 0;
        for index in 0..SAMPLE {
            let (key, row) = pair(&Reading::at(index))?;
            bytes += (key.len() + row.len()) as u64;
        }
        Ok(Self { options: options.clone(), entities, row_bytes: bytes / u64::from(SAMPLE), folder })
    }

    /// Returns the total size of all keys and rows, in bytes.
    #[must_use]
    pub fn logical_bytes(&self) -> u64 {
        u64::from(self.entities) * self.row_bytes
    }

    /// Returns the cache size for each contender. For ten million entities, it is 1 GiB, about half the size of the engine's files.
    #[must_use]
    pub fn cache(&self) -> usize {
        usize::try_from(u64::from(self.entities) * CACHE as u64 / 10_000_000).unwrap_or(usize::MAX)
    }

    /// Returns the number of entities used to measure reads from the cache: a tenth of all entities.
    #[must_use]
    pub fn warm(&self) -> u32 {
        (self.entities / 10).next_multiple_of(PARTITION)
    }

    /// Returns the folder of a contender. If its entities have been updated since it was loaded, loads it again first.
    pub fn loaded(&self, kind: Kind) -> Outcome<PathBuf> {
        if self.updated(kind).exists() {
            std::fs::remove_dir_all(self.place(kind))?;
            std::fs::remove_file(self.updated(kind))?;
        }
        self.filled(kind)
    }

    /// Returns the folder of a contender, and loads it first if necessary. Its entities may have been updated since it was loaded.
    pub fn filled(&self, kind: Kind) -> Outcome<PathBuf> {
        let (folder, whole) = (self.place(kind), self.place(kind).with_extension("whole"));
        if !(whole.exists() && folder.exists()) {
            if folder.exists() {
                std::fs::remove_dir_all(&folder)?;
            }
            let start = Instant::now();
            let store = kind.open(&folder, self.cache())?;
            store.load(self.entities)?;
            drop(store);
            std::fs::write(&whole, [])?;
            eprintln!("{} holds {} entities after {:.1?}", kind.name(), self.entities, start.elapsed());
            settle()?;
        }
        Ok(folder)
    }

    /// Returns a contender's folder for a measurement that updates entities, and marks the folder as updated.
    pub fn to_update(&self, kind: Kind) -> Outcome<PathBuf> {
        let folder = self.filled(kind)?;
        std::fs::write(self.updated(kind), [])?;
        Ok(folder)
    }

    /// Opens the folder of a contender. If its entities have been updated since it was loaded, loads it again first.
    pub fn open(&self, kind: Kind) -> Outcome<Box<dyn Store>> {
        kind.open(&self.loaded(kind)?, self.cache())
    }

    fn place(&self, kind: Kind) -> PathBuf {
        self.folder.join(kind.word())
    }

    fn updated(&self, kind: Kind) -> PathBuf {
        self.place(kind).with_extension("updated")
    }
}
