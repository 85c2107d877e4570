//! redb used raw: encoded rows below encoded keys, read from one published snapshot. The limit for our reads.

use std::path::Path;

use redb::{Database, ReadOnlyTable, ReadableDatabase, TableDefinition};
use table_core::Entity;
use table_core::key::codec::{KeyCodec, Padded};
use table_core::key::order;

use crate::Outcome;
use crate::data::Reading;
use crate::peer::CACHE;

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("readings");

/// A database with the bytes of readings, and the snapshot that is read from.
#[derive(Debug)]
pub struct RawRedb {
    database: Database,
    snapshot: Option<ReadOnlyTable<&'static [u8], &'static [u8]>>,
}

impl RawRedb {
    /// The name in the table.
    pub const NAME: &str = "redb, raw bytes";

    /// A new database.
    pub fn create(path: &Path) -> Outcome<Self> {
        let database = redb::Builder::new().set_cache_size(CACHE).create(path)?;
        Ok(Self { database, snapshot: None })
    }

    /// Fills the database with the first so many readings and publishes the snapshot.
    pub fn load(&mut self, entities: u32) -> Outcome<()> {
        let write = self.database.begin_write()?;
        {
            let mut table = write.open_table(TABLE)?;
            let mut buffer = Buffer::default();
            for index in 0..entities {
                let reading = Reading::at(index);
                table.insert(buffer.key(&reading.site, reading.number)?, reading.to_row()?.as_bytes())?;
            }
        }
        write.commit()?;
        self.snapshot = Some(self.database.begin_read()?.open_table(TABLE)?);
        Ok(())
    }

    fn snapshot(&self) -> Outcome<&ReadOnlyTable<&'static [u8], &'static [u8]>> {
        Ok(self.snapshot.as_ref().ok_or("nothing is loaded")?)
    }

    /// Reads the bytes of one entity; the key is made in `buffer`.
    pub fn get(&self, site: &str, number: u32, buffer: &mut Buffer) -> Outcome<u64> {
        let value = self.snapshot()?.get(buffer.key(site, number)?)?.ok_or("the entity is gone")?;
        Ok(read(value.value()))
    }

    /// How many entities a partition has, and what was read of their bytes.
    pub fn page(&self, site: &str) -> Outcome<(usize, u64)> {
        let (mut from, mut to) = (Buffer::default(), Buffer::default());
        let (mut entities, mut bytes) = (0, 0_u64);
        for item in self.snapshot()?.range(from.key(site, 0)?..=to.key(site, u32::MAX)?)? {
            let (key, value) = item?;
            entities += 1;
            bytes += read(key.value()).wrapping_add(read(value.value()));
        }
        Ok((entities, bytes))
    }
}

/// Looks at every byte, as fast as that goes: an unread value was not fetched from memory either.
fn read(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = |sum: u64, word: u64| sum.wrapping_add(word);
    let words = words.iter().copied().map(u64::from_le_bytes).fold(0, sum);
    rest.iter().copied().map(u64::from).fold(words, sum)
}

/// What keys are made in.
#[derive(Debug, Default)]
pub struct Buffer {
    text: String,
    key: Vec<u8>,
}

impl Buffer {
    /// A key as an engine would write it: a table's number, the partition, the row.
    fn key(&mut self, site: &str, number: u32) -> Outcome<&[u8]> {
        self.text.clear();
        self.text.push_str("reading_");
        Padded::encode(&number, &mut self.text)?;
        self.key.clear();
        self.key.extend_from_slice(&1_u32.to_be_bytes());
        order::encode(site, &mut self.key);
        self.key.push(0);
        order::encode(&self.text, &mut self.key);
        Ok(&self.key)
    }
}
