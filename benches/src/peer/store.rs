//! The storage libraries compared in a full run, behind a common trait.

use std::hint::black_box;
use std::path::Path;

use crate::Outcome;
use crate::data::Reading;
use crate::peer::bytes::Buffer;
use crate::peer::fjall::Fjall;
use crate::peer::redb::{RawRedb, Snapshot};
use crate::peer::sqlite::Sqlite;
use crate::peer::tables::Tables;
use crate::peer::{Peer, Reader};
use crate::report::OURS;

/// A storage library in a full run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The embedded engine.
    Tables,
    /// The `fjall` crate, a log-structured merge tree.
    Fjall,
    /// The `redb` crate, a copy-on-write B-tree.
    Redb,
    /// `SQLite`, a B-tree with a write-ahead log.
    Sqlite,
}

impl Kind {
    /// All libraries, with the engine first.
    pub const ALL: [Self; 4] = [Self::Tables, Self::Fjall, Self::Redb, Self::Sqlite];

    /// Returns the name of the library as shown in the table of results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tables => OURS,
            Self::Fjall => Fjall::NAME,
            Self::Redb => RawRedb::NAME,
            Self::Sqlite => Sqlite::NAME,
        }
    }

    /// Returns the name of the library's data folder.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Fjall => "fjall",
            Self::Redb => "redb",
            Self::Sqlite => "sqlite",
        }
    }

    /// Opens this library's database in `folder` with the given cache size.
    pub fn open(self, folder: &Path, cache: usize) -> Outcome<Box<dyn Store>> {
        std::fs::create_dir_all(folder)?;
        Ok(match self {
            Self::Tables => Box::new(Tables::open(folder, cache)?),
            Self::Fjall => Box::new(Fjall::open(folder, cache)?),
            Self::Redb => Box::new(RawRedb::open(&folder.join("readings.redb"), cache)?),
            Self::Sqlite => Box::new(Sqlite::open(&folder.join("readings.sqlite"), cache)?),
        })
    }
}

/// An open database in a full run.
pub trait Store: Sync {
    /// Fills the store, which must be empty, with the first `entities` readings.
    fn load(&self, entities: u32) -> Outcome<()>;

    /// Inserts or replaces readings in one transaction, which is durable when the call returns. For the engine, all readings must be in the same partition.
    fn replace(&self, readings: Vec<Reading>) -> Outcome<()>;

    /// Returns a reader for one thread.
    fn look(&self) -> Outcome<Box<dyn Look + '_>>;
}

/// A reader. Some libraries decode each reading. The others only read all of its bytes.
pub trait Look {
    /// Reads one reading, which must exist.
    fn get(&mut self, site: &str, number: u32) -> Outcome<()>;

    /// Reads the readings in a partition. Returns the number of readings.
    fn page(&mut self, site: &str) -> Outcome<u32>;
}

impl Look for Box<dyn Reader + '_> {
    fn get(&mut self, site: &str, number: u32) -> Outcome<()> {
        black_box(Reader::get(&mut **self, site, number)?.ok_or("the entity is gone")?);
        Ok(())
    }

    fn page(&mut self, site: &str) -> Outcome<u32> {
        let mut seen = 0;
        Reader::page(&mut **self, site, &mut |reading| {
            black_box(reading);
            seen += 1;
        })?;
        Ok(seen)
    }
}

impl Store for Tables {
    fn load(&self, entities: u32) -> Outcome<()> {
        Peer::load(self, entities)
    }

    fn replace(&self, readings: Vec<Reading>) -> Outcome<()> {
        Self::replace(self, &readings)
    }

    fn look(&self) -> Outcome<Box<dyn Look + '_>> {
        Ok(Box::new(self.reader()?))
    }
}

impl Store for Sqlite {
    fn load(&self, entities: u32) -> Outcome<()> {
        Peer::load(self, entities)
    }

    fn replace(&self, readings: Vec<Reading>) -> Outcome<()> {
        Self::replace(self, readings)
    }

    fn look(&self) -> Outcome<Box<dyn Look + '_>> {
        Ok(Box::new(self.reader()?))
    }
}

impl Store for RawRedb {
    fn load(&self, entities: u32) -> Outcome<()> {
        Self::load(self, entities)
    }

    fn replace(&self, readings: Vec<Reading>) -> Outcome<()> {
        Self::replace(self, &readings)
    }

    fn look(&self) -> Outcome<Box<dyn Look + '_>> {
        Ok(Box::new(RedbReader { redb: self, snapshot: self.snapshot()?, buffer: Buffer::default() }))
    }
}

/// A reader of redb. It reads single readings from the snapshot that it took when it was created, which is fastest. It reads each page from a new snapshot.
struct RedbReader<'a> {
    redb: &'a RawRedb,
    snapshot: Snapshot,
    buffer: Buffer,
}

impl Look for RedbReader<'_> {
    fn get(&mut self, site: &str, number: u32) -> Outcome<()> {
        black_box(self.snapshot.get(site, number, &mut self.buffer)?);
        Ok(())
    }

    fn page(&mut self, site: &str) -> Outcome<u32> {
        let (entities, bytes) = self.redb.snapshot()?.page(site)?;
        black_box(bytes);
        Ok(entities)
    }
}

impl Store for Fjall {
    fn load(&self, entities: u32) -> Outcome<()> {
        Self::load(self, entities)
    }

    fn replace(&self, readings: Vec<Reading>) -> Outcome<()> {
        Self::replace(self, &readings)
    }

    fn look(&self) -> Outcome<Box<dyn Look + '_>> {
        Ok(Box::new((self, Buffer::default())))
    }
}

impl Look for (&Fjall, Buffer) {
    fn get(&mut self, site: &str, number: u32) -> Outcome<()> {
        black_box(self.0.get(site, number, &mut self.1)?);
        Ok(())
    }

    fn page(&mut self, site: &str) -> Outcome<u32> {
        let (entities, bytes) = self.0.page(site)?;
        black_box(bytes);
        Ok(entities)
    }
}
