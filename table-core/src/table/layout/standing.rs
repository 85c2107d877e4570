//! The state that an opened handle keeps about the stored schema. A program with an older schema records a row that proves it is still running (a sighting),
//! or stops writing. A program with a newer schema waits before its first write until all programs with an older schema know its properties.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use table_store::{Error, Result};

use crate::name::TableName;
use crate::runtime::Runtime;
use crate::schema::{EntitySchema, StoredSchema};
use crate::store::{Exclusive, TableStore};
use crate::table::fault::TableFault;
use crate::table::layout::record::read;
use crate::table::layout::unknown::{Stored, UnknownParts, unknown_parts};
use crate::table::layout::{settling, sighting};

/// The longest time that a handle writes without reading the stored schema again.
pub const LEASE: Duration = Duration::from_secs(5);

/// The time after which every writing program has read a newly stored schema: one lease, and the same time again for requests that were sent at the end of
/// the lease.
const SETTLED_AFTER: Duration = Duration::from_secs(2 * LEASE.as_secs());

const LEASE_TICKS: u64 = 5 * 10_000_000;

/// The result of comparing the stored schema with the schema of a handle.
struct Compared {
    /// `true` if the stored schema equals the handle's schema.
    is_own: bool,
    /// `true` if the handle's schema lacks indexes, a feed or copies of the stored schema whose backfill has not begun.
    lacks_announced: bool,
}

/// An opened handle's information about the stored schema. It determines whether a write may start.
#[derive(Debug)]
pub(crate) struct Standing {
    design: StoredSchema,
    /// The time when this handle last read the stored schema.
    asked: AtomicU64,
    /// The shared state of a store that no other process can use, or `None`. It counts the schemas that this process has replaced.
    exclusive: Option<Exclusive>,
    /// The number of replaced schemas in `exclusive` at the time when this handle last read the stored schema.
    replaced: AtomicU64,
    /// The properties of the stored schema that the handle's schema lacks.
    lacks: Mutex<Arc<[String]>>,
    /// `true` if the next write must wait until older versions of the program know the properties of this schema.
    settling: AtomicBool,
    /// The time when this process learned that the schema is stored.
    since: Mutex<Option<Instant>>,
    /// The states for other schemas whose entities are written together with the handle's entities. The keys are the table and the entity type.
    related: Mutex<BTreeMap<(String, String), Arc<Self>>>,
    /// The states for the other types of a set's handle; empty for the handle of one type.
    members: Vec<Arc<Self>>,
}

impl Standing {
    /// Creates the state of a handle whose schema has not been compared yet. The first write through the handle reads the stored schema.
    pub(super) fn unasked(design: StoredSchema, exclusive: Option<Exclusive>) -> Self {
        let replaced = exclusive.as_ref().map_or(0, Exclusive::replaced_schemas);
        Self {
            design,
            asked: AtomicU64::new(0),
            exclusive,
            replaced: AtomicU64::new(replaced),
            lacks: Mutex::default(),
            settling: AtomicBool::new(false),
            since: Mutex::new(None),
            related: Mutex::default(),
            members: Vec::new(),
        }
    }

    /// Updates the state after a comparison with the stored schema, and returns it. If this schema lacks parts that another program has announced, the
    /// first write reads the stored schema again, and records that a program without these parts may write.
    pub(super) fn opened(self, now: u64, stored: Stored) -> Self {
        self.asked.store(if stored.unknown.announced { 0 } else { now }, Ordering::Relaxed);
        self.learn(stored.unknown.properties);
        if stored.settling {
            self.note_settling();
        }
        self
    }

    /// Adds the states for the other types of a set, which were compared at the same time.
    pub(super) fn with_members(mut self, opened: Vec<Self>) -> Self {
        let table = self.design.table.to_ascii_lowercase();
        self.members = opened.into_iter().map(Arc::new).collect();
        let place = |other: &Arc<Self>| ((table.clone(), other.design.entity.clone()), Arc::clone(other));
        let related = self.related.get_mut().unwrap_or_else(PoisonError::into_inner);
        related.extend(self.members.iter().map(place));
        self
    }

    /// Returns the states for all types of the handle.
    pub(super) fn of_types(self: &Arc<Self>) -> impl Iterator<Item = &Arc<Self>> {
        self.members.iter().chain([self])
    }

    /// Returns the schema of the handle.
    pub(super) const fn design(&self) -> &StoredSchema {
        &self.design
    }

    /// Returns the state for a different schema, in a table of the same store.
    pub(crate) fn related(self: &Arc<Self>, design: &EntitySchema, table: &TableName) -> Arc<Self> {
        let is_table = |name: &str| name.eq_ignore_ascii_case(table.as_str());
        if self.design.entity == design.entity && is_table(&self.design.table) {
            return Arc::clone(self);
        }
        let mut related = self.related.lock().unwrap_or_else(PoisonError::into_inner);
        let known = related.entry((table.folded().to_owned(), design.entity.to_owned()));
        let unasked = || {
            let design = StoredSchema::of(design).in_table(table.as_str());
            Arc::new(Self::unasked(design, self.exclusive.clone()))
        };
        Arc::clone(known.or_insert_with(unasked))
    }

    /// Returns the properties of the stored schema that the handle's schema lacks, according to the last read.
    pub(super) fn known_properties(&self) -> Arc<[String]> {
        Arc::clone(&self.lacks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the properties of the stored schema that the handle's schema lacks. Reads the stored schema if the last read is too old. Unlike
    /// [`admit`](Self::admit), this method neither waits nor records a sighting.
    pub(super) async fn newer_properties<S: TableStore>(
        &self,
        store: &S,
        table: &TableName,
        now: u64,
    ) -> Result<Arc<[String]>> {
        if !self.is_leased(now) {
            let replaced = self.replaced_schemas();
            // IMPORTANT: a program that lacks announced parts writes only after it has recorded a sighting, so its next write queries the store again.
            if !self.compare(store, table).await?.lacks_announced {
                self.note_asked(replaced, now);
            }
        }
        Ok(self.known_properties())
    }

    fn learn(&self, properties: Vec<String>) {
        *self.lacks.lock().unwrap_or_else(PoisonError::into_inner) = properties.into();
    }

    /// Returns `true` if a write may start now without sending a request or waiting.
    pub(crate) fn is_admitted(&self, now: u64) -> bool {
        self.is_leased(now) && !self.settling.load(Ordering::Relaxed)
    }

    /// Returns `true` if the stored schema was read within the lease, and this process has replaced no schema since then.
    fn is_leased(&self, now: u64) -> bool {
        let is_recent = now.abs_diff(self.asked.load(Ordering::Relaxed)) <= LEASE_TICKS;
        is_recent && self.replaced_schemas() == self.replaced.load(Ordering::Relaxed)
    }

    /// Returns the number of schemas that this process has replaced; 0 if other processes can use the store.
    fn replaced_schemas(&self) -> u64 {
        self.exclusive.as_ref().map_or(0, Exclusive::replaced_schemas)
    }

    /// Records a read of the stored schema. The caller must determine both arguments before the read.
    fn note_asked(&self, replaced: u64, now: u64) {
        self.replaced.store(replaced, Ordering::Relaxed);
        self.asked.store(now, Ordering::Relaxed);
    }

    /// Checks that a write may start now. Reads the stored schema if the last read is too old, and waits while older programs may not know this schema's
    /// properties.
    pub(crate) async fn admit<S: TableStore>(
        &self,
        (store, runtime): (&S, &Runtime),
        table: &TableName,
        mut now: u64,
    ) -> Result<()> {
        while !self.is_admitted(now) {
            if self.settling.load(Ordering::Relaxed) {
                self.wait_until_settled((store, runtime), table).await?;
                now = runtime.now();
            }
            // IMPORTANT: the number is read after the wait, because another program may have replaced the schema in the meantime.
            let replaced = self.replaced_schemas();
            self.ask(store, table).await?;
            self.note_asked(replaced, now);
        }
        Ok(())
    }

    fn note_settling(&self) {
        self.since.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
        self.settling.store(true, Ordering::Relaxed);
    }

    async fn wait_until_settled<S: TableStore>(
        &self,
        (store, runtime): (&S, &Runtime),
        table: &TableName,
    ) -> Result<()> {
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let known = since.map_or(Duration::ZERO, |since| since.elapsed());
        runtime.sleep(SETTLED_AFTER.saturating_sub(known)).await;
        settling::settle(store, table, &self.design).await?;
        self.settling.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Returns `true` if the stored schema equals this handle's schema. Returns an error if this program cannot write at the same time as programs with the
    /// stored schema.
    pub(crate) async fn ask<S: TableStore>(&self, store: &S, table: &TableName) -> Result<bool> {
        let mut compared = self.compare(store, table).await?;
        if compared.lacks_announced {
            // IMPORTANT: the schema is read again after the sighting. A backfill that missed the sighting had already refused older programs by then.
            sighting::leave(store, table, &self.design.entity).await?;
            compared = self.compare(store, table).await?;
        }
        Ok(compared.is_own)
    }

    /// Reads the stored schema, and remembers the names of the properties that this schema lacks.
    async fn compare<S: TableStore>(&self, store: &S, table: &TableName) -> Result<Compared> {
        let Some(stored) = read(store, table, &self.design.entity).await? else {
            return Ok(Compared { is_own: true, lacks_announced: false });
        };
        let is_own = stored.compare(&self.design).is_same();
        let unknown =
            if is_own { UnknownParts::default() } else { unknown_parts(&stored, &self.design, table)? };
        let is_known = self.since.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if is_own && stored.settling && !is_known {
            self.note_settling();
        }
        self.learn(unknown.properties);
        Ok(Compared { is_own, lacks_announced: unknown.announced })
    }

    /// Checks that a whole row may be replaced. A replace removes properties that this schema does not declare.
    pub(crate) fn admit_whole(&self, table: &TableName) -> Result<()> {
        if self.known_properties().is_empty() {
            return Ok(());
        }
        let fault = TableFault::DropsProperties(self.design.entity.clone());
        Err(Error::of(fault).with_table(table.as_str()))
    }
}
