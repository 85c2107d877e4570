//! The embedded engine with typed entities and the typed table handle. All options except the cache size have their default values.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Table, TableStoreExt};

use crate::Outcome;
use crate::data::{PARTITION, Reading};
use crate::peer::{Peer, Reader, See};
use crate::report::OURS;

/// The number of threads that load a table.
const LOADERS: usize = 16;
/// The number of entities in one transaction during a load.
const BATCH: usize = 100;

/// An engine with a table of readings.
#[derive(Debug)]
pub struct Tables {
    table: Table<Reading, Engine>,
}

impl Tables {
    /// Opens a folder with the given cache size. Creates the table of readings if it does not exist.
    pub fn open(folder: &Path, cache: usize) -> Outcome<Self> {
        Self::of(&Engine::builder().cache_bytes(cache).open(folder)?)
    }

    /// Creates the table of readings in an engine if it does not exist.
    pub fn of(engine: &Engine) -> Outcome<Self> {
        Ok(Self::in_table(block_on(engine.table::<Reading>().create_if_missing())?))
    }

    /// Wraps an existing table.
    #[must_use]
    pub fn in_table(table: Table<Reading, Engine>) -> Self {
        Self { table }
    }

    /// Inserts or replaces a reading.
    pub fn put(&self, reading: &Reading) -> Outcome<()> {
        block_on(self.table.insert_or_replace(reading))?;
        Ok(())
    }

    /// Inserts or replaces readings, all in one partition, in one transaction.
    pub fn replace(&self, readings: &[Reading]) -> Outcome<()> {
        let Some(first) = readings.first() else { return Ok(()) };
        let mut transaction = self.table.transaction(first)?;
        for reading in readings {
            transaction.insert_or_replace(reading)?;
        }
        block_on(transaction.commit())?;
        Ok(())
    }

    /// Returns the table.
    #[must_use]
    pub fn table(&self) -> &Table<Reading, Engine> {
        &self.table
    }

    fn load_partition(&self, partition: u32, entities: u32) -> Outcome<()> {
        let readings: Vec<Reading> =
            (partition * PARTITION..((partition + 1) * PARTITION).min(entities)).map(Reading::at).collect();
        readings.chunks(BATCH).try_for_each(|batch| self.insert_all(batch))
    }

    fn insert_all(&self, readings: &[Reading]) -> Outcome<()> {
        let Some(first) = readings.first() else { return Ok(()) };
        let mut transaction = self.table.transaction(first)?;
        for reading in readings {
            transaction.insert(reading)?;
        }
        block_on(transaction.commit())?;
        Ok(())
    }
}

impl Peer for Tables {
    fn name(&self) -> &'static str {
        OURS
    }

    fn load(&self, entities: u32) -> Outcome<()> {
        let (next, partitions) = (AtomicU32::new(0), entities.div_ceil(PARTITION));
        std::thread::scope(|scope| {
            let work = || -> Outcome<()> {
                loop {
                    let partition = next.fetch_add(1, Ordering::Relaxed);
                    if partition >= partitions {
                        return Ok(());
                    }
                    self.load_partition(partition, entities)?;
                }
            };
            let threads: Vec<_> = (0..LOADERS).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a loader panicked")?)
        })?;
        Ok(block_on(self.table.store().checkpoint())?)
    }

    fn reader(&self) -> Outcome<Box<dyn Reader + '_>> {
        Ok(Box::new(&self.table))
    }

    fn insert(&self, reading: Reading) -> Outcome<()> {
        block_on(self.table.insert(&reading))?;
        Ok(())
    }

    fn transaction(&self, readings: Vec<Reading>) -> Outcome<()> {
        self.insert_all(&readings)
    }
}

impl Reader for &Table<Reading, Engine> {
    fn get(&mut self, site: &str, number: u32) -> Outcome<Option<Reading>> {
        let found = block_on(Table::get(self, Reading::key(site, number)))?;
        Ok(found.map(table_core::Versioned::into_value))
    }

    fn page(&mut self, site: &str, see: See<'_>) -> Outcome<()> {
        block_on(self.query(Reading::partition(site)).for_each(|reading| see(reading)))?;
        Ok(())
    }

    fn filter(&mut self, site: &str, level: i32, see: See<'_>) -> Outcome<()> {
        let query = self.query(Reading::partition(site)).filter(Reading::LEVEL.eq(level));
        block_on(query.for_each(|reading| see(reading)))?;
        Ok(())
    }
}
