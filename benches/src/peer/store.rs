//! The contenders of a full run behind one trait, whether they give readings or bytes.

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

/// The contenders of a full run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ours.
    Tables,
    /// Runs of a log-structured tree.
    Fjall,
    /// A tree that is copied on write.
    Redb,
    /// A tree with a log.
    Sqlite,
}

impl Kind {
    /// All of them, ours first.
    pub const ALL: [Self; 4] = [Self::Tables, Self::Fjall, Self::Redb, Self::Sqlite];

    /// The name in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tables => OURS,
            Self::Fjall => Fjall::NAME,
            Self::Redb => RawRedb::NAME,
            Self::Sqlite => Sqlite::NAME,
        }
    }

    /// The name of its folder.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Fjall => "fjall",
            Self::Redb => "redb",
            Self::Sqlite => "sqlite",
        }
    }

    /// Opens one in a folder, with so many bytes of cache.
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

/// A contender that is open.
pub trait Store: Sync {
    /// Fills it, which is empty, with the first so many readings.
    fn load(&self, entities: u32) -> Outcome<()>;

    /// Inserts or replaces readings, all or none; durable when it returns. Those of ours are of one partition.
    fn replace(&self, readings: Vec<Reading>) -> Outcome<()>;

    /// Something to read with, from one thread.
    fn look(&self) -> Outcome<Box<dyn Look + '_>>;
}

/// Reads what the contender gives: decoded readings, or bytes that it looks at.
pub trait Look {
    /// One entity, which is there.
    fn get(&mut self, site: &str, number: u32) -> Outcome<()>;

    /// The entities of a partition, and how many they are.
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

/// Entities come from the snapshot that was the newest when the reader was made, which is the fastest way there is; pages from the
/// newest one.
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
