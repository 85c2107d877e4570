//! redb used raw: encoded rows below encoded keys, read from one published snapshot. The limit for our reads.

use std::path::Path;
use std::sync::Arc;

use redb::{Database, ReadOnlyTable, ReadableDatabase, TableDefinition};

use crate::Outcome;
use crate::data::Reading;
use crate::peer::bytes::{Buffer, Pair, pair, pairs, read};
use crate::peer::committer::Committer;

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("readings");

/// A database with the bytes of readings, and its committer.
#[derive(Debug)]
pub struct RawRedb {
    // Dropped first: its thread has the database too.
    committer: Committer<Vec<Pair>>,
    database: Arc<Database>,
}

impl RawRedb {
    /// The name in the table.
    pub const NAME: &str = "redb, raw bytes";

    /// A database with so many bytes of cache; a new one unless it is there.
    pub fn open(path: &Path, cache: usize) -> Outcome<Self> {
        let database = Arc::new(redb::Builder::new().set_cache_size(cache).create(path)?);
        let written = Arc::clone(&database);
        let committer = Committer::start(move |jobs: &mut dyn Iterator<Item = Vec<Pair>>| {
            let write = written.begin_write()?;
            let mut replies = Vec::new();
            {
                let mut table = write.open_table(TABLE)?;
                for (key, row) in jobs.inspect(|_| replies.push(Ok(()))).flatten() {
                    table.insert(key.as_slice(), row.as_slice())?;
                }
            }
            write.commit()?;
            Ok(replies)
        });
        Ok(Self { committer, database })
    }

    /// Fills the database with the first so many readings.
    pub fn load(&self, entities: u32) -> Outcome<()> {
        let write = self.database.begin_write()?;
        {
            let mut table = write.open_table(TABLE)?;
            for index in 0..entities {
                let (key, row) = pair(&Reading::at(index))?;
                table.insert(key.as_slice(), row.as_slice())?;
            }
        }
        Ok(write.commit()?)
    }

    /// Inserts or replaces readings, all or none.
    pub fn replace(&self, readings: &[Reading]) -> Outcome<()> {
        self.committer.submit(pairs(readings)?)
    }

    /// What is there now, to read from.
    pub fn snapshot(&self) -> Outcome<Snapshot> {
        let table = self.database.begin_read()?.open_table(TABLE)?;
        Ok(Snapshot { table, _database: Arc::clone(&self.database) })
    }
}

/// What was there at one moment.
#[derive(Debug)]
pub struct Snapshot {
    table: ReadOnlyTable<&'static [u8], &'static [u8]>,
    /// Keeps the database open.
    _database: Arc<Database>,
}

impl Snapshot {
    /// Reads the bytes of one entity; the key is made in `buffer`.
    pub fn get(&self, site: &str, number: u32, buffer: &mut Buffer) -> Outcome<u64> {
        let value = self.table.get(buffer.key(site, number)?)?.ok_or("the entity is gone")?;
        Ok(read(value.value()))
    }

    /// How many entities a partition has, and what was read of their bytes.
    pub fn page(&self, site: &str) -> Outcome<(u32, u64)> {
        let (mut from, mut to) = (Buffer::default(), Buffer::default());
        let (mut entities, mut bytes) = (0, 0_u64);
        for item in self.table.range(from.key(site, 0)?..=to.key(site, u32::MAX)?)? {
            let (key, value) = item?;
            entities += 1;
            bytes += read(key.value()).wrapping_add(read(value.value()));
        }
        Ok((entities, bytes))
    }
}
