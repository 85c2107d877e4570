//! Settles remote index entries: makes them match their entity, using the [`converge`] protocol (PAT-INTER-3, PAT-EC-2).

mod steps;
mod verdict;

use std::sync::atomic::{AtomicUsize, Ordering};

use table_core::entity::Entity;
use table_core::etag::ETag;
use table_core::index::IndexOf;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::Select;
use table_core::row::Row;
use table_core::schema::IndexSchema;
use table_core::store::{StoredRow, TableStore};
use table_core::{Error, Result};

use crate::converge::{self, Derive, Part, Place, Wanted, WantedOf};
use crate::entities::{Current, Entities, RACE, StepRecorder};
use crate::index::changes::{index_of, stored_entry};
use crate::index::fault::IndexFault;
use crate::index::remote::{EntryFingerprint, RemoteChange};
use crate::index::whole::with_values;
use crate::outbox::guard::{Guard, Origin};
use crate::outbox::keys::guard_key;
use crate::requests::{self, CONCURRENCY};
use verdict::Verdict;

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Settles a change to an entity's entries in one index. `call` contains the version of the recorded change, and `true` if the record is genuine. If the
    /// version is known, each change is settled only once. Otherwise, the entry is settled to match the current entity.
    pub(crate) async fn settle_index(
        &self,
        index: &'static IndexSchema,
        change: &RemoteChange,
        call: (Option<u64>, bool),
    ) -> Result<usize> {
        self.settle_entries((index, change), call, false).await
    }

    /// Settles an entity's entries in one index on behalf of a pass, which [marks](crate::index::mark) each entry before removing it.
    pub(crate) async fn settle_for_pass(
        &self,
        index: &'static IndexSchema,
        change: &RemoteChange,
    ) -> Result<usize> {
        self.settle_entries((index, change), (None, true), true).await
    }

    async fn settle_entries(
        &self,
        (index, change): (&'static IndexSchema, &RemoteChange),
        (generation, is_genuine): (Option<u64>, bool),
        marks: bool,
    ) -> Result<usize> {
        let table = self.table_of(index)?;
        let Some(index) = index_of::<E>(index) else { return Ok(0) };
        let EntityKey { partition_key, row_key } = &change.owner;
        let generation = match generation {
            Some(version) => Some(Generation {
                origin: Origin::new(self.table.name()?, partition_key, row_key, version),
                version,
            }),
            None => None,
        };
        let entries = Entries {
            handle: self,
            index,
            table,
            change,
            generation,
            is_genuine,
            marks,
            looks: AtomicUsize::new(0),
        };
        let limits = self.table.store().capabilities().limits;
        converge::settle(&entries, change.keys.iter().cloned(), (&self.retry, limits)).await?.all()
    }

    /// Returns `true` if an entity's index entry is currently at `key`.
    pub(crate) async fn has_entry(
        &self,
        index: &IndexOf<E>,
        owner: &EntityKey,
        key: &EntityKey,
    ) -> Result<bool> {
        match self.current(owner).await? {
            Some(current) => Ok(stored_entry(index, &current.entity)?.is_some_and(|entry| entry.key == *key)),
            None => Ok(false),
        }
    }
}

/// After this many stale reads, settling a change fails, and a worker retries it later.
const LOOKS: usize = 3;

/// The entries of one index affected by a change to an entity.
struct Entries<'a, E: Entity, S, O> {
    handle: &'a Entities<E, S, O>,
    index: &'static IndexOf<E>,
    table: TableName,
    change: &'a RemoteChange,
    generation: Option<Generation>,
    /// `false` if the change may have been recorded by a writer without the seal key. In that case, the guard is written only if the entry changes.
    is_genuine: bool,
    /// `true` if an entry is [marked](crate::index::mark) before it is removed.
    marks: bool,
    /// The number of reads so far that returned the entity as it was before the change.
    looks: AtomicUsize,
}

/// The origin and the version of the change to settle. A later change to the same entity has a larger version.
struct Generation {
    origin: Origin,
    version: u64,
}

/// The rows stored at a key of a remote index: the guard, and the copy or list.
pub(crate) struct Target {
    key: EntityKey,
    guard: Option<(Guard, ETag)>,
    row: Option<StoredRow>,
}

/// The rows stored at a key, and the entity's desired entry there.
pub(crate) struct Entry {
    target: Target,
    wanted: Option<Row>,
    /// `true` if the entry is only marked for removal. Before the entry is removed, the entity is reread.
    marks: bool,
    /// The version of the entity from which the desired entry was computed.
    entity: Option<ETag>,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Derive for Entries<'_, E, S, O> {
    type Item = EntityKey;
    type Stored = Vec<Target>;
    type What = Entry;

    const RACE: &'static str = RACE;

    async fn stored(&self, keys: &[EntityKey], _: usize) -> Result<Vec<Target>> {
        let targets = keys.iter().map(|key| self.target(key));
        requests::in_order(targets, CONCURRENCY).await
    }

    async fn wanted(&self, targets: Vec<Target>) -> Result<WantedOf<Self>> {
        let mut wanted = Wanted::default();
        let (entry, stored, seen) = match self.handle.current(&self.change.owner).await? {
            Some(Current { entity, stored, etag, ticks }) => {
                (stored_entry(self.index, &entity)?, stored, Some((etag, ticks)))
            }
            None => (None, None, None),
        };
        if let Some(entry) = &entry
            && self.generation.is_none()
            && !targets.iter().any(|target| target.key == entry.key)
            && !self.change.keys.contains(&entry.key)
        {
            wanted.again.push((0, entry.key.clone()));
        }
        // The hash in the change record covers the stored values, but no properties known only to a newer release.
        let entry = match (entry, &stored) {
            (Some(entry), Some(stored)) => {
                Some(with_values::<E>(self.index.schema(), entry, [Some(stored.view()), None])?)
            }
            (entry, _) => entry,
        };
        let now = entry
            .as_ref()
            .map_or(EntryFingerprint::Nothing, |entry| EntryFingerprint::entry(&entry.key, &entry.row));
        let entry = match entry {
            Some(entry) => Some(self.handle.whole_entry(self.index.schema(), entry, stored.as_ref()).await?),
            None => None,
        };
        for (item, target) in targets.into_iter().enumerate() {
            match self.verdict(&target, &now, seen.as_ref().map(|(etag, ticks)| (etag, *ticks))).await? {
                Verdict::Settled => {}
                Verdict::Behind => wanted.lost.push(item),
                Verdict::Write => {
                    let place =
                        Place { table: self.table.clone(), partition_key: target.key.partition_key.clone() };
                    let row = entry.as_ref().filter(|entry| entry.key == target.key);
                    let marks = self.marks && row.is_none() && self.can_mark(&target).await?;
                    if marks {
                        wanted.again.push((item, target.key.clone()));
                    }
                    let row = row.map(|entry| entry.row.clone());
                    let what = Entry {
                        target,
                        wanted: row,
                        marks,
                        entity: seen.as_ref().map(|(etag, _)| etag.clone()),
                    };
                    wanted.parts.push(Part { item, place, own: 2, shared: Vec::new(), what });
                }
            }
        }
        if !wanted.lost.is_empty() && self.looks.fetch_add(1, Ordering::Relaxed) + 1 == LOOKS {
            return Err(self.named(Error::of(IndexFault::Behind), &self.change.owner));
        }
        Ok(wanted)
    }

    async fn write(&self, place: &Place, parts: &[Part<Entry>]) -> Result<Option<usize>> {
        self.handle.admit(false).await?;
        let (mut operations, mut uploads, mut rows) = (Vec::new(), Vec::new(), 0);
        let lists = self.handle.lists(&self.table);
        let mut done = Ok(true);
        for Part { what, .. } in parts {
            let before = operations.len();
            done = self.operations(what, &mut operations, &mut uploads).await;
            if !matches!(done, Ok(true)) {
                break;
            }
            rows += (operations.len() - before).saturating_sub(1);
        }
        let is_sent = matches!(done, Ok(true));
        if is_sent {
            done = uploads.iter().try_for_each(|upload| lists.check_age(upload)).map(|()| true);
        }
        if matches!(done, Ok(true)) && !operations.is_empty() {
            let submitted =
                converge::submit(self.handle.table.store(), &place.table, &place.partition_key, operations);
            done = converge::is_won(submitted.await);
        }
        if !is_sent || matches!(done, Ok(false)) {
            // No list refers to these uploads, because the transaction was not sent or was refused. After any other error, a list may refer to them, so they
            // are left for the collector.
            for upload in &uploads {
                lists.discard(upload).await;
            }
        }
        Ok(done?.then_some(rows))
    }

    fn named(&self, error: Error, _: &EntityKey) -> Error {
        self.handle.here(error, &self.change.owner)
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entries<'_, E, S, O> {
    /// Reads the rows stored at a key. Reads the guard first, because any later change to the entry also changes the guard.
    async fn target(&self, key: &EntityKey) -> Result<Target> {
        let store = self.handle.table.store();
        let found = store.get(&self.table, &guard_key(key)?, &Select::All).await?;
        let row = store.get(&self.table, key, &Select::All).await?;
        let guard = match found {
            Some(found) => Some((Guard::read(found.row.view())?, found.etag)),
            None => None,
        };
        Ok(Target { key: key.clone(), guard, row })
    }
}
