//! A model of how a view records the partitions that contain rows of an entity, called the source.
//!
//! The source moves between partitions. Each partition has a record that states whether it contains rows of the source. A list names the partitions that do.
//! The list must stay short, but must never omit a partition with rows, even if processes pause.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::Model;
use crate::interleave::{Process, Processes, Random, finish, give_way, step};

pub(crate) const MODEL: Model = Model { name: "places", conditions: &CONDITIONS, run };

const CONDITIONS: [&str; 8] = [
    "the list is written after the records are read",
    "the list is written before an empty record gets something, also where it names the partition",
    "the list is written under its version",
    "a record is written under its version",
    "an empty record stays",
    "a partition leaves the list after its record was written in the same round",
    "a partition leaves the list under the version that was read before its record",
    "the source is read after the records and the list",
];

const LIST_AFTER: usize = 0;
const LIST_ALWAYS: usize = 1;
const LIST_VERSION: usize = 2;
const RECORD_VERSION: usize = 3;
const RECORD_STAYS: usize = 4;
const LEAVES_AFTER: usize = 5;
const LEAVES_VERSION: usize = 6;
const SOURCE_LAST: usize = 7;

/// The number of partitions in which the source can be.
const PLACES: usize = 4;

/// A row with its content and version. The version is 0 if the row does not exist.
#[derive(Clone, Default)]
struct Stored<T> {
    content: T,
    version: u64,
}

impl<T> Stored<T> {
    /// Writes the row if it has the expected version. Returns the new version, or `None` if the row has another version.
    fn write(&mut self, content: T, version: Option<u64>) -> Option<u64> {
        if version.is_some_and(|version| version != self.version) {
            return None;
        }
        *self = Self { content, version: self.version + 1 };
        Some(self.version)
    }
}

#[derive(Default)]
struct Store {
    source: Option<usize>,
    /// The number of changes made to the source so far.
    changes: usize,
    list: Stored<BTreeSet<usize>>,
    /// The record of each partition: `true` if the partition contains rows of the source.
    records: BTreeMap<usize, Stored<bool>>,
    /// The versions of deleted records. A record that is created again gets a new version.
    deleted: BTreeMap<usize, u64>,
}

#[derive(Clone)]
struct World {
    store: Rc<RefCell<Store>>,
    random: Random,
    removed: Option<usize>,
    /// `true` if the process never dies.
    lives: bool,
}

impl World {
    fn holds(&self, condition: usize) -> bool {
        self.removed != Some(condition)
    }

    async fn change(self) {
        give_way().await;
        let mut store = self.store.borrow_mut();
        store.source = Some(self.random.below(PLACES + 1)).filter(|at| *at < PLACES);
        store.changes += 1;
    }

    async fn apply(self) {
        self.apply_within(6).await;
    }

    async fn apply_within(&self, rounds: usize) -> bool {
        let mut hint = None;
        for _ in 0..rounds {
            match self.round(hint).await {
                Round::Done => return true,
                Round::Lost => hint = None,
                Round::Unknown(at) => hint = Some(at),
            }
        }
        false
    }

    /// Applies the changes of the source as a process that never dies. Returns `false` if this takes too many rounds.
    fn settle(&self) -> bool {
        let living = Self { lives: true, ..self.clone() };
        let is_done = Rc::new(Cell::new(false));
        let done = Rc::clone(&is_done);
        finish(Box::pin(async move { done.set(living.apply_within(60).await) }));
        is_done.get()
    }

    /// Checks that the records and the list match the source.
    fn check(&self) -> Result<(), String> {
        let store = self.store.borrow();
        let has = store.records.iter().filter(|(_, record)| record.content).map(|(at, _)| *at);
        let has: Vec<_> = has.collect();
        if has == store.source.into_iter().collect::<Vec<_>>() {
            return Ok(());
        }
        Err(format!("the source is in {:?}, the records say {has:?}", store.source))
    }

    async fn write_list(&self, list: BTreeSet<usize>, version: u64) -> Option<u64> {
        give_way().await;
        let version = Some(version).filter(|_| self.holds(LIST_VERSION));
        self.store.borrow_mut().list.write(list, version)
    }

    async fn write_record(&self, at: usize, has: bool, version: u64) -> bool {
        give_way().await;
        let mut store = self.store.borrow_mut();
        let version = Some(version).filter(|_| self.holds(RECORD_VERSION));
        if !has && !self.holds(RECORD_STAYS) {
            // The row is deleted. If the record is written again, it is a new row.
            let stored = store.records.get(&at).map_or(0, |record| record.version);
            if version.is_some_and(|version| version != stored) {
                return false;
            }
            store.records.remove(&at);
            *store.deleted.entry(at).or_default() = stored;
            return true;
        }
        let base = store.deleted.get(&at).copied().unwrap_or_default();
        let record = store.records.entry(at).or_default();
        if record.version == 0 && version.is_none_or(|version| version == 0) {
            *record = Stored { content: has, version: base + 1 };
            return true;
        }
        record.write(has, version).is_some()
    }

    async fn round(&self, hint: Option<usize>) -> Round {
        give_way().await;
        let early = self.store.borrow().source;
        let Stored { content: listed, mut version } = self.store.borrow().list.clone();
        let is_first = version == 0;
        let mut places = listed.clone();
        places.extend(hint);
        if !self.holds(LIST_AFTER) && hint.is_some() {
            let Some(written) = self.write_list(places.clone(), version).await else { return Round::Lost };
            version = written;
        }
        let mut records = BTreeMap::new();
        for at in &places {
            if !is_first {
                give_way().await;
            }
            // The first list of an entity is written before its first record.
            let record = self.store.borrow().records.get(at).filter(|_| !is_first).cloned();
            records.insert(*at, record.unwrap_or_default());
        }
        let gets = |at: usize| records.get(&at).is_none_or(|record| !record.content);
        let is_new = |at: usize| !listed.contains(&at) || self.holds(LIST_ALWAYS);
        if self.holds(LIST_AFTER) && hint.is_some_and(|at| gets(at) && is_new(at)) {
            let Some(written) = self.write_list(places.clone(), version).await else { return Round::Lost };
            version = written;
        }
        give_way().await;
        let source = if self.holds(SOURCE_LAST) { self.store.borrow().source } else { early };
        if let Some(at) = source.filter(|at| gets(*at) && is_new(*at) && hint != Some(*at)) {
            return Round::Unknown(at);
        }
        let rest: BTreeSet<usize> = source.into_iter().collect();
        if !self.holds(LEAVES_AFTER) && rest != places {
            let Some(written) = self.write_list(rest.clone(), version).await else { return Round::Lost };
            version = written;
        }
        for (at, record) in records {
            if !self.write_record(at, source == Some(at), record.version).await {
                return Round::Lost;
            }
            if !self.lives && self.random.one_in(12) {
                return Round::Done;
            }
        }
        if self.holds(LEAVES_AFTER) && rest != places {
            if !self.holds(LEAVES_VERSION) {
                give_way().await;
                version = self.store.borrow().list.version;
            }
            if self.write_list(rest, version).await.is_none() {
                return Round::Lost;
            }
        }
        Round::Done
    }
}

/// The result of one round of applying changes.
enum Round {
    Done,
    /// Another process has written one of the rows, so the round must be repeated.
    Lost,
    /// The source is in a partition whose record has not been read. This record must be read next.
    Unknown(usize),
}

fn run(seed: u64, removed: Option<usize>) -> Result<(), String> {
    let random = Random::new(seed);
    let world = World { store: Rc::default(), random: random.clone(), removed, lives: false };
    let mut processes = Processes::new(random.clone());
    for _ in 0..3 + random.below(8) {
        let applies = (0..=random.below(2)).map(|_| Box::pin(world.clone().apply()) as Process);
        for process in std::iter::once(Box::pin(world.clone().change()) as Process).chain(applies) {
            processes.start(process);
        }
        processes.run(random.below(24));
    }
    processes.run_to_end();
    if !world.settle() {
        return Err("it does not end".to_owned());
    }
    let before = world.store.borrow().changes;
    for mut process in processes.sleepers() {
        for _ in 0..=random.below(8) {
            if step(&mut process) {
                break;
            }
        }
    }
    // If a paused process has resumed and changed the source, the change is applied here.
    if world.store.borrow().changes != before && !world.settle() {
        return Err("it does not end after sleepers".to_owned());
    }
    world.check()?;
    if !world.settle() {
        return Err("it does not end".to_owned());
    }
    let store = world.store.borrow();
    let listed: Vec<_> = store.list.content.iter().copied().collect();
    if listed != store.source.into_iter().collect::<Vec<_>>() {
        return Err(format!("the source is in {:?}, the list names {listed:?}", store.source));
    }
    Ok(())
}
