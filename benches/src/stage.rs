//! The setup of a run. All libraries under comparison are filled with the same entities, and must return the same results.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::Outcome;
use crate::data::{self, LEVELS, PARTITION, Places, Random, Reading};
use crate::folder::Folder;
use crate::options::Options;
use crate::peer::native_db::NativeDb;
use crate::peer::redb::{RawRedb, Snapshot};
use crate::peer::sqlite::Sqlite;
use crate::peer::tables::Tables;
use crate::peer::{CACHE, Peer};

/// The libraries under comparison and the data for measuring them.
pub struct Stage {
    /// The options of the run.
    pub options: Options,
    /// The embedded engine.
    pub tables: Tables,
    /// The other libraries that return decoded readings.
    others: [Box<dyn Peer>; 2],
    /// A snapshot of `redb`, which returns encoded readings.
    pub redb: Snapshot,
    /// The random entities to read.
    pub places: Places,
    /// The readings from which new readings are derived.
    pool: Vec<Reading>,
    /// The number of readings derived from the pool so far.
    made: AtomicU64,
    /// The folder that contains all files. It is the last field, so it is dropped after the values that have files open in it.
    pub folder: Folder,
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage")
            .field("options", &self.options)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl Stage {
    /// Opens a database of each library under comparison and fills it with the entities.
    pub fn set(options: Options) -> Outcome<Self> {
        let folder = Folder::create(options.keep)?;
        let redb = RawRedb::open(&folder.join("raw.redb"), CACHE)?;
        let tables = Tables::open(&folder.join("tables"), CACHE)?;
        let others: [Box<dyn Peer>; 2] = [
            Box::new(Sqlite::open(&folder.join("peer.sqlite"), CACHE)?),
            Box::new(NativeDb::create(&folder.join("peer.native_db"))?),
        ];
        let (entities, start) = (options.entities, Instant::now());
        redb.load(entities)?;
        eprintln!("{} holds {entities} entities after {:.1?}", RawRedb::NAME, start.elapsed());
        for peer in peers(&tables, &others) {
            let start = Instant::now();
            peer.load(entities)?;
            eprintln!("{} holds {entities} entities after {:.1?}", peer.name(), start.elapsed());
        }
        let places = Places::new(entities, 7);
        let pool = (0..4 * PARTITION).map(Reading::at).collect();
        let redb = redb.snapshot()?;
        let stage = Self { options, tables, others, redb, places, pool, made: AtomicU64::new(0), folder };
        stage.check()?;
        Ok(stage)
    }

    /// Returns all libraries that return decoded readings, with the engine first.
    pub fn peers(&self) -> impl Iterator<Item = &dyn Peer> {
        peers(&self.tables, &self.others)
    }

    /// Returns the number of entities in a small table.
    #[must_use]
    pub fn small(&self) -> u32 {
        (self.options.entities / 10).next_multiple_of(PARTITION)
    }

    /// Returns the number of entities in a large table. In a full run, it is a hundred times as many as in the small table. Otherwise, it is the number of
    /// entities in the table used by the read benchmarks.
    #[must_use]
    pub fn large(&self) -> u32 {
        if self.options.full { self.small().saturating_mul(100) } else { self.options.entities }
    }

    /// Returns the number of partitions in the table used by the read benchmarks.
    #[must_use]
    pub fn partitions(&self) -> u32 {
        self.options.entities / PARTITION
    }

    /// Returns a new reading in an existing partition. No library contains it yet.
    pub fn fresh(&self) -> Reading {
        let made = self.made.fetch_add(1, Ordering::Relaxed);
        self.fresh_at(made, self.any_site(made))
    }

    /// Returns new readings in one existing partition. No library contains any of them yet.
    pub fn fresh_batch(&self, size: u64) -> Vec<Reading> {
        let made = self.made.fetch_add(size, Ordering::Relaxed);
        (made..made + size).map(|turn| self.fresh_at(turn, self.any_site(made))).collect()
    }

    fn any_site(&self, seed: u64) -> String {
        data::site(Random::new(seed).below(self.partitions()))
    }

    fn fresh_at(&self, made: u64, site: String) -> Reading {
        let index = usize::try_from(made).unwrap_or_default() % self.pool.len();
        let template = self.pool.get(index).cloned().unwrap_or_else(|| Reading::at(0));
        Reading { site, number: data::fresh_number(made), ..template }
    }

    /// Checks that all libraries return the expected entities. If they did not, a comparison of their rates would be meaningless.
    fn check(&self) -> Outcome<()> {
        let partition = self.partitions() / 2;
        let (site, level) = (data::site(partition), i32::try_from(LEVELS / 2)?);
        let all: Vec<Reading> =
            (0..PARTITION).map(|index| Reading::at(partition * PARTITION + index)).collect();
        let matching: Vec<Reading> = all.iter().filter(|reading| reading.level == level).cloned().collect();
        for peer in self.peers() {
            let mut reader = peer.reader()?;
            let (mut page, mut filtered) = (Vec::new(), Vec::new());
            reader.page(&site, &mut |reading| page.push(reading.clone()))?;
            reader.filter(&site, level, &mut |reading| filtered.push(reading.clone()))?;
            let same = page == all
                && filtered == matching
                && reader.get(&site, data::number(17))?.as_ref() == all.get(17)
                && reader.get(&site, 1)?.is_none();
            if !same {
                return Err(format!("{} gives other answers than the data", peer.name()).into());
            }
        }
        if self.redb.page(&site)?.0 != PARTITION {
            return Err(format!("{} gives other answers than the data", RawRedb::NAME).into());
        }
        Ok(())
    }
}

fn peers<'a>(tables: &'a Tables, others: &'a [Box<dyn Peer>]) -> impl Iterator<Item = &'a dyn Peer> {
    let ours: &dyn Peer = tables;
    std::iter::once(ours).chain(others.iter().map(Box::as_ref))
}
