//! The compared storage libraries, including the embedded engine, each used as its documentation recommends.

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

/// The cache size limit of each library, in bytes.
pub const CACHE: usize = 1 << 30;

/// A storage library that stores readings. Writes are durable when the call returns, and reads see all earlier writes.
pub trait Peer: Sync {
    /// Returns the name of the library in the table of results.
    fn name(&self) -> &'static str;

    /// Fills the store with the first `entities` readings as fast as possible.
    fn load(&self, entities: u32) -> Outcome<()>;

    /// Returns a reader for one thread.
    fn reader(&self) -> Outcome<Box<dyn Reader + '_>>;

    /// Inserts a reading. Fails if the reading exists.
    fn insert(&self, reading: Reading) -> Outcome<()>;

    /// Inserts readings into one partition in one transaction.
    fn transaction(&self, readings: Vec<Reading>) -> Outcome<()>;
}

/// A callback that is called with each reading.
pub type See<'a> = &'a mut dyn FnMut(&Reading);

/// A reader that returns decoded readings.
pub trait Reader {
    /// Returns one decoded reading.
    fn get(&mut self, site: &str, number: u32) -> Outcome<Option<Reading>>;

    /// Reads the first thousand readings in a partition, and passes each decoded reading to `see`.
    fn page(&mut self, site: &str, see: See<'_>) -> Outcome<()>;

    /// Reads the readings in a partition with the given level, and passes each decoded reading to `see`.
    fn filter(&mut self, site: &str, level: i32, see: See<'_>) -> Outcome<()>;
}
