//! Frees space on a full disk. Then checks that every kind of write succeeds within a limited number of attempts.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::Engine;
use table_core::embedded::testing::Scheduler;

use super::{FOLDER, History};
use crate::power::Fault;
use crate::sim::model::{Condition, Operation, Verb, Wrong};
use crate::sim::plan::Trouble;
use crate::sim::schedule::Shared;

/// The space in bytes needed for the files of an engine without rows, including its reserve.
const NEEDED: u64 = 6 << 20;
/// The space in bytes that the writes of [`History::write_again`] need. A message may take up nearly a megabyte. It is written to the journal, and again by a
/// flush.
const WRITTEN: u64 = 16 << 20;
/// The maximum number of attempts until a write succeeds.
const ATTEMPTS: usize = 10;
/// The delay before each attempt.
const PAUSE: Duration = Duration::from_secs(1);

/// The way in which space becomes free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relief {
    /// Another program frees space.
    MoreSpace,
    /// Callers drop all tables.
    Drops,
    /// Callers delete all rows, and request a compaction.
    Deletions,
}

/// The random choices for full disks. They use a separate generator, so they do not affect the other choices in the history.
pub(super) struct FullDisk {
    random: StdRng,
    /// `true` while the disk has enough free space. No write may then be refused.
    pub(super) is_relieved: bool,
}

impl FullDisk {
    pub(super) fn draw(seed: u64) -> Self {
        Self { random: StdRng::seed_from_u64(seed.rotate_left(16)), is_relieved: false }
    }
}

impl History {
    fn length_of(&self, name: &str) -> u64 {
        let path = Path::new(FOLDER).join(name);
        self.disk.files().into_iter().find(|(file, _)| *file == path).map_or(0, |(_, length)| length as u64)
    }

    /// In some lives with a full disk, frees space. Then checks that every kind of write succeeds.
    pub(super) fn relieve(&mut self, engine: &Engine) -> Result<(), Wrong> {
        let may_fill = matches!(self.life.trouble, Trouble::Disk(Fault::FullAfter(_)));
        let is_chosen = may_fill && !self.life.drops_slowly && self.full_disk.random.random_ratio(3, 4);
        if !is_chosen || self.has_failed() || self.excuses.is_damaged() {
            return Ok(());
        }
        self.await_restore()?;
        self.hear_all()?;
        // A folder has no reserve if it was opened on a full disk. It also has none if the reserve was used, and a backup on this disk has since taken its
        // space.
        let has_reserve = self.length_of("RESERVE") > 0;
        let relief = [Relief::MoreSpace, Relief::Drops, Relief::Drops, Relief::Deletions];
        let relief = relief[self.full_disk.random.random_range(0..4)];
        self.log.add(format!("space becomes free: {relief:?}"));
        if self.full_disk.random.random() {
            // A checkpoint fails because the disk is full, possibly after the first tables have been dropped.
            let left = [0, 10_000, 1_200_000][self.full_disk.random.random_range(0..3)];
            self.disk.set_fault(Some(Fault::FullAfter(left)));
            self.ask_base(engine, false);
        }
        // A snapshot or an image would keep the files of dropped tables.
        (self.snapshot, self.image) = (None, None);
        match relief {
            Relief::MoreSpace => self.disk.set_fault(None),
            Relief::Drops => self.drop_all(engine)?,
            Relief::Deletions => self.delete_all_rows(engine)?,
        }
        self.hear_all()?;
        self.give_room_beyond_rows(engine, NEEDED);
        // Without a reserve, files are removed only after the memtable and the base have been written to free space.
        if !has_reserve {
            let is_journal = |path: &Path| path.extension().is_some_and(|end| end == "journal");
            let journals = self.disk.files().into_iter().filter(|(path, _)| is_journal(path));
            let memtable: u64 = journals.map(|(_, length)| length as u64).sum();
            self.disk.give_room_beyond(0, memtable + 2 * self.length_of("BASE") + (64 << 10));
        }
        // Without a reserve, the deletions may have been refused, so they are repeated.
        match relief {
            Relief::MoreSpace => {}
            Relief::Drops => self.drop_all(engine)?,
            Relief::Deletions => self.delete_all_rows(engine)?,
        }
        self.write_again(engine)
    }

    /// Leaves space for the other rows, such as messages, and for `needed` more bytes.
    fn give_room_beyond_rows(&self, engine: &Engine, needed: u64) {
        let is_engine = |path: &Path| path.parent() == Some(Path::new(FOLDER));
        let files = self.disk.files();
        let files = files.into_iter().filter(|(path, _)| is_engine(path) && !self.is_foreign(path));
        let held: u64 = files.map(|(_, length)| length as u64).sum();
        let rows = engine.statistics().map_or(0, |statistics| statistics.base_bytes);
        // The reserve is twice as long as the `BASE` file. When this file is rewritten, the earlier one still exists.
        let base = 4 * self.length_of("BASE");
        self.disk.give_room_beyond(held, rows + base + needed);
    }

    fn drop_all(&mut self, engine: &Engine) -> Result<(), Wrong> {
        for table in 0..self.shape.tables {
            if self.model.states().iter().any(|state| state.tables.contains_key(&table)) {
                if !self.model.has_room(self.life.callers) {
                    self.hear_all()?;
                }
                self.ask_drop(engine, table);
            }
        }
        self.hear_all()
    }

    fn delete_all_rows(&mut self, engine: &Engine) -> Result<(), Wrong> {
        loop {
            let states = self.model.states();
            let mut tables = states.iter().flat_map(|state| &state.tables);
            let first = tables.find_map(|(table, rows)| Some((*table, *rows.rows().keys().next()?)));
            let Some((table, (partition, _))) = first else { break };
            let rows = states[0].tables.get(&table).map(|table| table.rows()).into_iter().flatten();
            let rows = rows.filter(|((of, _), _)| *of == partition).map(|((_, row), _)| *row).take(100);
            let verb = Verb::Delete(Condition::Any);
            let operations: Vec<_> =
                (self.next..).zip(rows).map(|(number, row)| Operation { row, verb, number }).collect();
            let (before, count) = (self.seen.acknowledged, operations.len());
            if count > 0 {
                self.ask_operations(engine, table, partition, &operations);
            }
            self.hear_all()?;
            if self.seen.acknowledged == before {
                break;
            }
        }
        self.ask_base(engine, true);
        self.hear_all()
    }

    /// Writes until a write succeeds. After that, every write must succeed.
    fn write_again(&mut self, engine: &Engine) -> Result<(), Wrong> {
        let before = self.seen.acknowledged;
        let mut attempts = 0;
        while self.seen.acknowledged == before {
            attempts += 1;
            if attempts > ATTEMPTS {
                let statistics = engine.statistics();
                return Err(Wrong(format!("space is free, but writes are refused: {statistics:?}")));
            }
            Shared(Arc::clone(&self.schedule)).sleep(PAUSE);
            self.write_one(engine, Verb::Upsert)?;
        }
        self.give_room_beyond_rows(engine, NEEDED + WRITTEN);
        self.full_disk.is_relieved = true;
        for verb in [Verb::Update(Condition::Any), Verb::Delete(Condition::Any), Verb::Insert] {
            self.write_one(engine, verb)?;
        }
        for step in 0..8 {
            match step {
                2 | 5 => self.ask_table(engine),
                4 => self.ask_base(engine, false),
                7 => self.ask_base(engine, true),
                _ => self.ask_queue(engine),
            }
            self.hear_all()?;
        }
        self.look_at_everything(engine)?;
        self.full_disk.is_relieved = false;
        Ok(())
    }

    /// Writes one row of the first table, which is created if it is missing.
    fn write_one(&mut self, engine: &Engine, verb: Verb) -> Result<(), Wrong> {
        let is_there = self.model.states().iter().any(|state| state.tables.contains_key(&0));
        if !is_there {
            self.ask_create(engine, 0);
            self.hear_all()?;
        }
        self.ask_operations(engine, 0, 0, &[Operation { row: 0, verb, number: self.next }]);
        self.hear_all()
    }
}
