//! The `redb` crate with encoded rows and keys, read from one snapshot. Its read rate is an upper bound for the engine.

use std::path::Path;
use std::sync::Arc;

use redb::{Database, ReadOnlyTable, ReadableDatabase, TableDefinition};

use crate::Outcome;
use crate::data::Reading;
use crate::peer::bytes::{Buffer, Pair, pair, pairs, read};
use crate::peer::committer::Committer;

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("readings");

/// A database of encoded readings, and its committer thread.
#[derive(Debug)]
pub struct RawRedb {
    // Field order matters: the committer is dropped first, because its thread also uses the database.
    committer: Committer<Vec<Pair>>,
    database: Arc<Database>,
}

impl RawRedb {
    /// The name of this contender as shown in the table of results.
    pub const NAME: &str = "redb, raw bytes";

    /// Opens a database with the given cache size, creating it if it does not exist.
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

    /// Fills the database with the first `entities` readings.
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

    /// Inserts or replaces readings in one transaction.
    pub fn replace(&self, readings: &[Reading]) -> Outcome<()> {
        self.committer.submit(pairs(readings)?)
    }

    /// Returns a snapshot of the current state of the database.
    pub fn snapshot(&self) -> Outcome<Snapshot> {
        let table = self.database.begin_read()?.open_table(TABLE)?;
        Ok(Snapshot { table, _database: Arc::clone(&self.database) })
    }
}

/// A snapshot of the database.
#[derive(Debug)]
pub struct Snapshot {
    table: ReadOnlyTable<&'static [u8], &'static [u8]>,
    /// Keeps the database open while the snapshot exists.
    _database: Arc<Database>,
}

impl Snapshot {
    /// Looks up one reading and loads all of its bytes. `buffer` is reused to encode the key.
    pub fn get(&self, site: &str, number: u32, buffer: &mut Buffer) -> Outcome<u64> {
        let value = self.table.get(buffer.key(site, number)?)?.ok_or("the entity is gone")?;
        Ok(read(value.value()))
    }

    /// Loads all bytes of the readings in a partition. Returns the number of readings and a checksum of their bytes.
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
