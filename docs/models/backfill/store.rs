//! The store of the model. It contains the stored schema with the state of the index, the entities, and the entries of the index.

use std::collections::{BTreeMap, BTreeSet};

pub(super) const ENTITIES: usize = 3;
pub(super) const VALUES: usize = 3;
/// The release without the index, and two releases that declare it differently.
const RELEASES: usize = 3;

/// The state of the index, as recorded in the stored schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Index {
    /// The stored schema does not declare the index yet.
    Unknown,
    /// Older programs may write. The value is the store's time at the first run of a backfill, or `None` if none has run.
    Announced(Option<i64>),
    /// Older programs are refused. The values are the number of this refusal, and the store's time at the first run of a backfill.
    Closing(i64, i64),
    /// A backfill may run its pass over all entities. The values are the number of the pass, and the position that it has reached.
    Building(u64, usize),
    Ready,
}

/// An index entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) version: u64,
    /// `true` if a run has found that no entity requires the entry, and is about to delete it.
    pub(super) is_marked: bool,
}

/// The key of an entry: the value and the entity.
pub(super) type EntryKey = (usize, usize);

pub(super) struct Store {
    pub(super) now: i64,
    /// The release whose schema is stored.
    pub(super) schema: usize,
    /// The number of schemas that have been stored.
    pub(super) generation: u64,
    pub(super) index: Index,
    pub(super) sighting: i64,
    /// The latest expiry of all grants that older programs have made.
    pub(super) granted: i64,
    /// The value and the version of each entity. An entity without a value has no row, and therefore no version.
    entities: [(Option<usize>, u64); ENTITIES],
    /// The index entries of each release. Each release stores them under different keys.
    entries: [BTreeMap<EntryKey, Entry>; RELEASES],
    versions: u64,
}

impl Store {
    pub(super) fn new(long_ago: i64) -> Self {
        Self {
            now: 0,
            schema: 0,
            generation: 0,
            index: Index::Unknown,
            sighting: long_ago,
            granted: long_ago,
            entities: [(Some(0), 1), (Some(1), 2), (None, 0)],
            entries: Default::default(),
            versions: 2,
        }
    }

    pub(super) fn version(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }

    pub(super) fn put(&mut self, at: usize, value: Option<usize>) {
        let version = self.version();
        if let Some(entity) = self.entities.get_mut(at) {
            *entity = (value, value.map_or(0, |_| version));
        }
    }

    pub(super) fn entity(&self, at: usize) -> (Option<usize>, u64) {
        self.entities.get(at).copied().unwrap_or_default()
    }

    /// Returns the index entries stored for a release.
    pub(super) fn entries(&self, release: usize) -> BTreeMap<EntryKey, Entry> {
        self.entries.get(release).cloned().unwrap_or_default()
    }

    pub(super) fn entry(&self, release: usize, key: EntryKey) -> Option<Entry> {
        self.entries.get(release)?.get(&key).copied()
    }

    pub(super) fn insert(&mut self, release: usize, key: EntryKey, is_marked: bool) -> Entry {
        let entry = Entry { version: self.version(), is_marked };
        if let Some(entries) = self.entries.get_mut(release) {
            entries.insert(key, entry);
        }
        entry
    }

    pub(super) fn remove(&mut self, release: usize, key: EntryKey) {
        if let Some(entries) = self.entries.get_mut(release) {
            entries.remove(&key);
        }
    }

    /// Writes an entity and its index entry as a release declares it. If the value has not changed, the entry is not written.
    pub(super) fn write(&mut self, release: usize, at: usize, value: Option<usize>, maintains: bool) {
        let before = self.entity(at).0;
        self.put(at, value);
        if maintains && release > 0 && before != value {
            if let Some(before) = before {
                self.remove(release, (before, at));
            }
            if let Some(value) = value {
                self.insert(release, (value, at), false);
            }
        }
    }

    /// Stores the schema of a release. The index must then be built.
    pub(super) fn open(&mut self, release: usize) {
        self.schema = release;
        self.generation += 1;
        self.index = Index::Announced(None);
    }

    /// Requires another pass. Does nothing if the pass has not begun, because it will then begin later in any case.
    pub(super) fn rebuild(&mut self) {
        if matches!(self.index, Index::Building(..) | Index::Ready) {
            self.index = Index::Building(self.version(), 0);
        }
    }

    /// Checks that the index of the stored schema has an entry for each entity, and no others.
    pub(super) fn check(&self) -> Result<(), String> {
        let wanted = self.entities.iter().enumerate().filter_map(|(at, entity)| Some((entity.0?, at)));
        let wanted: BTreeSet<_> = wanted.collect();
        let has: BTreeSet<_> = self.entries(self.schema).into_keys().collect();
        if has == wanted {
            Ok(())
        } else {
            Err(format!("the entities need {wanted:?}, the index has {has:?}"))
        }
    }
}
