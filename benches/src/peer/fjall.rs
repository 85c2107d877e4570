//! The `fjall` crate with encoded rows and keys. A committer thread combines the jobs of the writers into batches.

use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::Outcome;
use crate::data::Reading;
use crate::peer::bytes::{Buffer, Pair, pair, pairs, read};
use crate::peer::committer::Committer;

/// A database of encoded readings, and its committer thread.
pub struct Fjall {
    // Field order matters: the committer is dropped first, because its thread also uses the database.
    committer: Committer<Vec<Pair>>,
    keyspace: Keyspace,
    database: Database,
}

impl std::fmt::Debug for Fjall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fjall").finish_non_exhaustive()
    }
}

impl Fjall {
    /// The name of this contender as shown in the table of results.
    pub const NAME: &str = "fjall, raw bytes";

    /// Opens a database with the given cache size, creating it if it does not exist.
    pub fn open(folder: &Path, cache: usize) -> Outcome<Self> {
        let database = Database::builder(folder).cache_size(u64::try_from(cache)?).open()?;
        let keyspace = database.keyspace("readings", KeyspaceCreateOptions::default)?;
        let (written, into) = (database.clone(), keyspace.clone());
        let committer = Committer::start(move |jobs: &mut dyn Iterator<Item = Vec<Pair>>| {
            let mut batch = written.batch().durability(Some(PersistMode::SyncData));
            let mut replies = Vec::new();
            for (key, row) in jobs.inspect(|_| replies.push(Ok(()))).flatten() {
                batch.insert(&into, key, row);
            }
            batch.commit()?;
            Ok(replies)
        });
        Ok(Self { committer, keyspace, database })
    }

    /// Fills the database, which must be empty, with the first `entities` readings.
    pub fn load(&self, entities: u32) -> Outcome<()> {
        let mut ingestion = self.keyspace.start_ingestion()?;
        for index in 0..entities {
            let (key, row) = pair(&Reading::at(index))?;
            ingestion.write(key, row)?;
        }
        ingestion.finish()?;
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    /// Inserts or replaces readings in one transaction.
    pub fn replace(&self, readings: &[Reading]) -> Outcome<()> {
        self.committer.submit(pairs(readings)?)
    }

    /// Looks up one reading and loads all of its bytes. `buffer` is reused to encode the key.
    pub fn get(&self, site: &str, number: u32, buffer: &mut Buffer) -> Outcome<u64> {
        let value = self.keyspace.get(buffer.key(site, number)?)?.ok_or("the entity is gone")?;
        Ok(read(&value))
    }

    /// Loads all bytes of the readings in a partition. Returns the number of readings and a checksum of their bytes.
    pub fn page(&self, site: &str) -> Outcome<(u32, u64)> {
        let (mut from, mut to) = (Buffer::default(), Buffer::default());
        let (mut entities, mut bytes) = (0, 0_u64);
        for guard in self.keyspace.range(from.key(site, 0)?..=to.key(site, u32::MAX)?) {
            let (key, value) = guard.into_inner()?;
            entities += 1;
            bytes += read(&key).wrapping_add(read(&value));
        }
        Ok((entities, bytes))
    }
}
