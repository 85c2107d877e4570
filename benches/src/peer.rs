//! The contenders, each used as its own documentation advises.

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

/// Bytes of memory that each contender may use as a cache.
pub const CACHE: usize = 1 << 30;

/// A store of readings. Writes are durable when they return; reads see all that was written before.
pub trait Peer: Sync {
    /// The name in the table.
    fn name(&self) -> &'static str;

    /// Fills the store with the first so many readings, as fast as it can.
    fn load(&self, entities: u32) -> Outcome<()>;

    /// Something to read with, from one thread.
    fn reader(&self) -> Outcome<Box<dyn Reader + '_>>;

    /// Inserts a reading; it is an error if it is there.
    fn insert(&self, reading: Reading) -> Outcome<()>;

    /// Inserts readings of one partition, all or none.
    fn transaction(&self, readings: Vec<Reading>) -> Outcome<()>;
}

/// Is shown what was read.
pub type See<'a> = &'a mut dyn FnMut(&Reading);

/// Reads readings, decoded.
pub trait Reader {
    /// One entity.
    fn get(&mut self, site: &str, number: u32) -> Outcome<Option<Reading>>;

    /// The first thousand entities of a partition, each shown as soon as it is decoded.
    fn page(&mut self, site: &str, see: See<'_>) -> Outcome<()>;

    /// The entities of a partition whose level is this, likewise.
    fn filter(&mut self, site: &str, level: i32, see: See<'_>) -> Outcome<()>;
}
