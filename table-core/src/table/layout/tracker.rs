//! Tracks the stored schema for an opened handle. A program with an older schema records that it is still running, or stops writing. A program with a newer
//! schema waits before its first write until all programs with an older schema have read the newer one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use table_store::{Error, Result};

use crate::etag::ETag;
use crate::name::TableName;
use crate::runtime::Runtime;
use crate::schema::{EntitySchema, StoredSchema};
use crate::store::{Exclusive, SchemaNotes, TableStore, WriteLease};
use crate::table::fault::TableFault;
use crate::table::layout::known::{Known, Settling};
use crate::table::layout::record::read;
use crate::table::layout::unknown::{Stored, UnknownParts, unknown_parts};
use crate::table::layout::{settling, sighting};

/// The longest time that a handle keeps writing before it rereads the stored schema.
pub const LEASE: Duration = Duration::from_secs(5);

/// The longest time between storing a schema and the last effect of a request from a program that has not yet read the schema.
///
/// A lease may begin just before the schema is stored, and the last attempt may start at the end of the lease. The attempt is then sent for up to
/// [`WriteLease::ATTEMPT`], travels for up to two seconds, and is processed by the service for up to `ATTEMPT`.
pub const SETTLED_AFTER: Duration =
    Duration::from_secs(LEASE.as_secs() + 2 * WriteLease::ATTEMPT.as_secs() + 2);

/// The maximum number of reads of the stored schema for one write. Several reads are needed if other schemas are stored in the meantime, or if a read takes
/// longer than the lease.
const READS: usize = 8;

/// The result of comparing the stored schema with the schema of a handle.
struct Compared {
    /// The sequence number of the read. Later reads have greater numbers.
    read: u64,
    /// The value of the process's `SchemaNotes` counter before the read, plus this handle's own increment, if any.
    noted: u64,
    /// `true` if the stored schema equals the handle's schema.
    is_own: bool,
    /// `true` if the handle's schema lacks indexes, a feed or copies of the stored schema whose backfill has not begun.
    lacks_announced: bool,
}

/// The state of an opened handle that depends on the stored schema. It decides whether a write may start.
#[derive(Debug)]
pub(crate) struct SchemaTracker {
    design: StoredSchema,
    /// The shared state of a store that only this process can use, or `None` for any other store.
    exclusive: Option<Exclusive>,
    /// The process's counter for the schema. Each increment makes the handles reread the stored schema. `None` if other processes can use the store.
    notes: Option<SchemaNotes>,
    /// The number of reads of the stored schema started so far.
    reads: AtomicU64,
    known: Mutex<Known>,
    /// The `SchemaTracker`s for other schemas whose entities are written together with the handle's entities. The keys are the table and the entity type.
    related: Mutex<BTreeMap<(String, String), Arc<Self>>>,
    /// The `SchemaTracker`s for the handle's other types, such as the other types of a set. Empty if the handle has only one type.
    members: Vec<Arc<Self>>,
}

impl SchemaTracker {
    /// Creates the state of a handle whose schema has not yet been compared with the stored schema. The first write through the handle reads the stored schema.
    pub(super) fn unasked(design: StoredSchema, exclusive: Option<Exclusive>) -> Self {
        let notes = exclusive.as_ref().map(|exclusive| exclusive.schema_notes(&design.table, &design.entity));
        Self {
            design,
            exclusive,
            notes,
            reads: AtomicU64::new(0),
            known: Mutex::default(),
            related: Mutex::default(),
            members: Vec::new(),
        }
    }

    /// Updates the state after a comparison with the stored schema, and returns it.
    ///
    /// If this schema lacks parts announced by another program, the first write rereads the stored schema and records that a program without these parts may
    /// write.
    ///
    /// `lease` must have begun before the comparison. `noted` is the value of the process's `SchemaNotes` counter before the comparison, plus this handle's own
    /// increment, if any.
    pub(super) fn opened(mut self, (lease, noted): (WriteLease, u64), stored: Stored) -> Self {
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        known.set_lease(noted, (!stored.unknown.announced).then_some(lease));
        known.announced = stored.own;
        known.note_properties(stored.unknown.properties, stored.removed);
        if let Some(own) = stored.own.filter(|_| stored.settling) {
            known.note_settling(own);
        }
        self
    }

    /// Adds the `SchemaTracker`s for the other types of a set. Their schemas must have been compared at the same time as this one.
    pub(super) fn with_members(mut self, opened: Vec<Self>) -> Self {
        let table = self.design.table.to_ascii_lowercase();
        self.members = opened.into_iter().map(Arc::new).collect();
        let place = |other: &Arc<Self>| ((table.clone(), other.design.entity.clone()), Arc::clone(other));
        let related = self.related.get_mut().unwrap_or_else(PoisonError::into_inner);
        related.extend(self.members.iter().map(place));
        self
    }

    /// Returns one `SchemaTracker` for the types of several handles to the same table. Returns `None` if there are no handles.
    pub(super) fn of_all(mut trackers: Vec<Arc<Self>>) -> Option<Arc<Self>> {
        let last = trackers.pop()?;
        if trackers.is_empty() {
            return Some(last);
        }
        let mut all = Self::unasked(last.design.clone(), last.exclusive.clone());
        all.members = trackers;
        Some(Arc::new(all))
    }

    /// Returns the `SchemaTracker`s for all types of the handle.
    pub(super) fn of_types(self: &Arc<Self>) -> impl Iterator<Item = &Arc<Self>> {
        self.members.iter().chain([self])
    }

    /// Returns `true` if other processes can use the store.
    pub(crate) const fn is_shared(&self) -> bool {
        self.exclusive.is_none()
    }

    /// Returns the schema of the handle.
    pub(super) const fn design(&self) -> &StoredSchema {
        &self.design
    }

    /// Returns the `SchemaTracker` for a different schema, in a table of the same store.
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

    /// Returns the properties of the stored schema missing from the handle's schema, as of the last read.
    pub(super) fn known_properties(&self) -> Arc<[String]> {
        Arc::clone(&self.known().lacks)
    }

    /// Returns the properties that other releases declare or have declared, as of the last read. These are the properties missing from the handle's schema, and
    /// those removed earlier.
    pub(super) fn other_properties(&self) -> Arc<[String]> {
        Arc::clone(&self.known().others)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the properties of the stored schema missing from the handle's schema. Reads the stored schema if the cached result is stale. Unlike
    /// [`admit`](Self::admit), this method neither waits nor records that an older program is running.
    pub(super) async fn newer_properties<S: TableStore>(
        &self,
        (store, runtime): (&S, &Runtime),
        table: &TableName,
    ) -> Result<Arc<[String]>> {
        let noted = self.noted();
        if self.known().lease(noted).is_none() {
            let lease = runtime.lease(LEASE);
            let compared = self.compare(store, table).await?;
            // IMPORTANT: a program that lacks announced parts must record that it is running before it writes. No lease is stored for it, so its next write
            // rereads the schema.
            if !compared.lacks_announced {
                self.note_lease(&compared, lease);
            }
        }
        Ok(self.known_properties())
    }

    /// Records the properties found by read number `read`, unless a later read has already been recorded.
    fn learn(&self, read: u64, lacks: Vec<String>, removed: Vec<String>) {
        let mut known = self.known();
        if known.read < read {
            // IMPORTANT: the properties must never be older than the lease. The lease permits writes without rereading the properties.
            known.read = read;
            known.note_properties(lacks, removed);
        }
    }

    /// Returns the lease within which a write may start immediately, or `None` if the write must first read the stored schema or wait.
    pub(crate) fn admitted(&self) -> Option<WriteLease> {
        let noted = self.noted();
        let known = self.known();
        known.lease(noted).filter(|_| known.settling().is_none())
    }

    /// Increments the process's `SchemaNotes` counter, so the other handles of this type reread the stored schema. Does nothing if `version` is the last
    /// version recorded.
    ///
    /// `noted` is the counter's value before the schema was read. The returned value belongs to the lease of that read. It is `noted` plus 1 if this call
    /// incremented the counter from `noted`, and otherwise `noted`.
    pub(super) fn note(&self, noted: u64, version: Option<&ETag>) -> u64 {
        match self.notes.as_ref().and_then(|notes| notes.note(version)) {
            Some(before) if before == noted => before.wrapping_add(1),
            _ => noted,
        }
    }

    /// Returns the value of the process's `SchemaNotes` counter, or 0 if other processes can use the store.
    pub(super) fn noted(&self) -> u64 {
        self.notes.as_ref().map_or(0, SchemaNotes::count)
    }

    /// Records the lease of a read, unless a later read has already been recorded. The caller must determine the lease before the read.
    fn note_lease(&self, compared: &Compared, lease: WriteLease) {
        let mut known = self.known();
        if known.read == compared.read {
            known.set_lease(compared.noted, Some(lease));
        }
    }

    /// Checks that a write may start now, and returns the lease within which it may start. Reads the stored schema if the cached result is stale, and waits
    /// while older programs may not have read this schema.
    ///
    /// # Errors
    /// `SchemaMismatch` if the program must not write; `ServerBusy` if each read took longer than the lease; any error from the store.
    pub(crate) async fn admit<S: TableStore>(
        &self,
        (store, runtime): (&S, &Runtime),
        table: &TableName,
    ) -> Result<WriteLease> {
        for _ in 0..READS {
            self.wait_until_settled((store, runtime), table).await?;
            if let Some(lease) = self.admitted() {
                return Ok(lease);
            }
            // IMPORTANT: the lease begins after the wait. During the wait, another program may have replaced the schema.
            let lease = runtime.lease(LEASE);
            let compared = self.compare_as_writer(store, table).await?;
            self.note_lease(&compared, lease.clone());
            let is_current = compared.noted == self.noted();
            // If only this process can use the store, no lease is needed. An unchanged `SchemaNotes` counter is enough, regardless of the clock.
            let is_in_time = !self.is_shared() || lease.remaining().is_some();
            if is_current && is_in_time && self.known().settling().is_none() {
                return Ok(lease);
            }
        }
        Err(WriteLease::ended(None).with_table(table.as_str()))
    }

    /// Waits while older programs may not have read this schema. One of the waiting writes then clears the stored schema's `settling` flag.
    async fn wait_until_settled<S: TableStore>(
        &self,
        (store, runtime): (&S, &Runtime),
        table: &TableName,
    ) -> Result<()> {
        let Some(waiting) = self.known().settling() else { return Ok(()) };
        runtime.sleep(SETTLED_AFTER.saturating_sub(waiting.since.elapsed())).await;
        if !self.known().set_over(waiting, true) {
            return Ok(());
        }
        let mut removal = MarkRemoval { tracker: self, waiting: Some(waiting) };
        settling::settle(store, table, &self.design).await?;
        removal.waiting = None;
        Ok(())
    }

    /// Returns `true` if the stored schema equals this handle's schema. Returns an error if this program cannot write concurrently with programs that have the
    /// stored schema.
    pub(crate) async fn ask<S: TableStore>(&self, store: &S, table: &TableName) -> Result<bool> {
        Ok(self.compare_as_writer(store, table).await?.is_own)
    }

    /// Compares the stored schema with this handle's schema. If this schema lacks announced parts, records that an older program is running.
    async fn compare_as_writer<S: TableStore>(&self, store: &S, table: &TableName) -> Result<Compared> {
        let mut compared = self.compare(store, table).await?;
        if compared.lacks_announced {
            // IMPORTANT: the schema is reread after the record is written. If a backfill has started without seeing the record, the stored schema already
            // forbids older programs, so the reread fails.
            sighting::leave(store, table, &self.design.entity).await?;
            compared = self.compare(store, table).await?;
        }
        Ok(compared)
    }

    /// Reads the stored schema, and caches the names of the properties missing from this schema.
    ///
    /// If the stored schema equals this schema but did not at the last read, the other handles in the process are notified. They reread the schema before their
    /// next write. The program that stored it may not have notified them, because it may not have received the response.
    async fn compare<S: TableStore>(&self, store: &S, table: &TableName) -> Result<Compared> {
        let number = self.reads.fetch_add(1, Ordering::Relaxed) + 1;
        let noted = self.noted();
        let Some(stored) = read(store, table, &self.design.entity).await? else {
            self.known().announced = None;
            self.learn(number, Vec::new(), Vec::new());
            return Ok(Compared { read: number, noted, is_own: true, lacks_announced: false });
        };
        let is_own = stored.compare(&self.design).is_same();
        let own = is_own.then(|| stored.version());
        // IMPORTANT: the lock is held until the other handles have been notified, so no other task sees the wait or the announced version earlier. The lease
        // that permits writes is stored even later.
        let noted = {
            let mut known = self.known();
            if let Some(own) = own.filter(|_| stored.settling) {
                known.note_settling(own);
            }
            let is_new = std::mem::replace(&mut known.announced, own) != own;
            if is_new && is_own { self.note(noted, Some(&stored.etag)) } else { noted }
        };
        let unknown =
            if is_own { UnknownParts::default() } else { unknown_parts(&stored, &self.design, table)? };
        self.learn(number, unknown.properties, stored.removed_properties());
        Ok(Compared { read: number, noted, is_own, lacks_announced: unknown.announced })
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

/// A guard for a write that clears the stored schema's `settling` flag. If the write fails or is cancelled, the next write clears the flag.
struct MarkRemoval<'s> {
    tracker: &'s SchemaTracker,
    waiting: Option<Settling>,
}

impl Drop for MarkRemoval<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.waiting {
            self.tracker.known().set_over(waiting, false);
        }
    }
}
