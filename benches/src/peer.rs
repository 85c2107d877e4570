//! The storage libraries under comparison, including the embedded engine. Each is used as its documentation recommends.

pub mod bytes;
pub mod committer;
pub mod fdatasync;
pub mod fjall;
pub mod native_db;
pub mod redb;
pub mod sqlite;
pub mod store;
pub mod tables;

use crate::Outcome;
use crate::data::Reading;

/// The size limit of the cache of each library, in bytes.
pub const CACHE: usize = 1 << 30;

/// A storage library that stores readings. A write is durable when the call returns, and a read sees all earlier writes.
pub trait Peer: Sync {
    /// Returns the name of the library as shown in the table of results.
    fn name(&self) -> &'static str;

    /// Fills the store with the first `entities` readings as fast as possible.
    fn load(&self, entities: u32) -> Outcome<()>;

    /// Returns a reader for one thread.
    fn reader(&self) -> Outcome<Box<dyn Reader + '_>>;

    /// Inserts a reading. Fails if a reading with the same key exists.
    fn insert(&self, reading: Reading) -> Outcome<()>;

    /// Inserts readings into one partition, in one transaction.
    fn transaction(&self, readings: Vec<Reading>) -> Outcome<()>;
}

/// A callback that receives each reading.
pub type See<'a> = &'a mut dyn FnMut(&Reading);

/// A reader that returns decoded readings.
pub trait Reader {
    /// Reads one reading and decodes it.
    fn get(&mut self, site: &str, number: u32) -> Outcome<Option<Reading>>;

    /// Reads the first thousand readings in a partition and passes each decoded reading to `see`.
    fn page(&mut self, site: &str, see: See<'_>) -> Outcome<()>;

    /// Reads a partition's readings with the given level and passes each decoded reading to `see`.
    fn filter(&mut self, site: &str, level: i32, see: See<'_>) -> Outcome<()>;
}
