//! Stores the schemas of a table's entity types, and compares them with the program's schemas when the table is opened.
//!
//! Schemas are stored as entities of an ordinary table, [`LAYOUTS`], so every backend can store them and any tool can show them.

mod admission;
mod designs;
mod known;
mod next;
mod proposal;
mod record;
mod renamed;
mod settling;
mod sighting;
mod tracker;
mod unknown;
mod watch;

use std::sync::Arc;

pub use admission::Admission;
pub(super) use designs::{forget, recorded};
use proposal::Proposal;
pub(super) use record::read;
pub use record::{LAYOUTS, SchemaRecord};
pub use sighting::Sightings;
use table_store::{Error, Result};
pub(crate) use tracker::SchemaTracker;
pub use tracker::{LEASE, SETTLED_AFTER};
pub use watch::SchemaWatch;

use crate::entity::{Declared, Entity};
use crate::etag::IfMatch;
use crate::name::TableName;
use crate::operation::OperationKind;
use crate::runtime::Runtime;
use crate::schema::{EntitySchema, StoredSchema};
use crate::store::{TableStore, WriteLease};
use crate::table::fault::TableFault;
use crate::table::{Table, request};

impl<E: Declared, S: TableStore> Table<E, S> {
    /// Creates the table if it does not exist, checks its stored schema, and returns the handle.
    ///
    /// The schema of `E`, or the schema of each member of a set, is compared with the stored schema. [`TableEntity`](crate::TableEntity) has no schema, so
    /// nothing is compared for it.
    ///
    /// - If no schema is stored, or the [compatibility](crate::schema::Compatibility) is *same*, *compatible* or *needs backfill*, the schema of `E` is stored.
    ///   The remaining work is recorded in [`SchemaRecord::pending`].
    /// - If no schema of `E` is stored, but a schema with the same key format is, then `E` may be a renamed type. This is an error if the table contains rows
    ///   with such keys. Keep the stored name of the type with `#[entity(schema_name = "…")]`, or call [`accept_schema`](Self::accept_schema).
    /// - *Needs acceptance*, *needs rewrite* and *refused* are errors if the table contains an entity. They are also errors if the schema of `E` lacks an
    ///   index, a feed or copies of the stored schema. Running programs rely on these being complete. After an error, nothing has changed. If the schema of one
    ///   member of a set is refused, no schema of the set is stored.
    /// - If the schema of `E` has been superseded, the program is an older version. It may run if its schema lacks only optional properties, and indexes, feeds
    ///   or copies whose backfill has not begun. Its schema may declare or require additional properties. The stored schema is then not changed. In all other
    ///   cases, opening the table is an error. The only exception is a table without rows, if the schema of `E` has every index, feed and copy of the stored
    ///   schema.
    ///
    /// Before a write, the handle and its clones check the stored schema again if the last check is older than [five seconds](LEASE). If the program's schema
    /// is older and lacks an index, a feed or copies whose backfill has not begun, this check records that an older program is running. The start of the
    /// backfill is then delayed.
    ///
    /// A program with an incompatible schema fails in this function, before it reads or writes a row.
    ///
    /// Opening a table costs one request that creates the table, one get for each schema, and one write if a schema has changed. Storing the first schema of a
    /// type in an existing table costs one additional query. Storing the first schema in a store also creates the table [`LAYOUTS`].
    ///
    /// ```
    /// use table_core::{Engine, Entity, ErrorCode, TableStoreExt};
    /// # mod v1 {
    /// #     #[derive(table_core::Entity)]
    /// #     #[partition_key(department)]
    /// #     #[row_key(id)]
    /// #     pub struct Employee { pub department: String, #[digits(6)] pub id: u32 }
    /// # }
    /// # mod v2 {
    /// #     #[derive(table_core::Entity)]
    /// #     #[partition_key(department)]
    /// #     #[row_key(id)]
    /// #     pub struct Employee { pub department: String, #[digits(8)] pub id: u32 }
    /// # }
    ///
    /// # pollster::block_on(async {
    /// let store = Engine::in_memory();
    /// let old = store.table::<v1::Employee>().create_if_missing().await?; // #[digits(6)] id: u32
    /// old.insert(&v1::Employee { department: "Sales".to_owned(), id: 223 }).await?;
    ///
    /// let new = store.table::<v2::Employee>().create_if_missing().await; // #[digits(8)] id: u32
    /// let error = new.unwrap_err();
    /// assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-11")));
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// - `SchemaMismatch` if the schema is not accepted. The error contains the compatibility, and each change with its remedy. Its source is the
    ///   [`Evolution`](crate::schema::Evolution).
    /// - `FormatTooNew` or `Corrupted` if the stored schema cannot be read.
    /// - `TableBeingDeleted` if an earlier table with this name is still being deleted (OPT-4).
    /// - `InvalidInput` if two of the [`SCHEMAS`](Declared::SCHEMAS) of `E` have the same name.
    pub async fn create_if_missing(self) -> Result<Self> {
        self.create_or_open().await.map(|(table, _)| table)
    }

    /// Creates or opens the table, like [`create_if_missing`](Self::create_if_missing). Also returns `true` if this call created the table.
    ///
    /// # Errors
    /// Any error from [`create_if_missing`](Self::create_if_missing).
    #[doc(hidden)]
    pub async fn create_or_open(self) -> Result<(Self, bool)> {
        let table = self.name()?;
        table.require_creatable()?;
        if let Some(shared) = shared_name(E::SCHEMAS) {
            return Err(Error::of(TableFault::SharedSchemaName(shared)).with_table(table.as_str()));
        }
        let exclusive = &self.store.capabilities().exclusive;
        let unasked = |schema: &&EntitySchema| {
            SchemaTracker::unasked(StoredSchema::of(schema).in_table(table.as_str()), exclusive.clone())
        };
        let unasked: Vec<_> = E::SCHEMAS.iter().map(unasked).collect();
        let mut proposals = Vec::with_capacity(unasked.len());
        // IMPORTANT: the lease and the `SchemaNotes` counters are taken before the reads. Creating the table may take minutes, and in the meantime, another
        // program may store a schema.
        let lease = self.runtime().lease(LEASE);
        let noted: Vec<_> = unasked.iter().map(SchemaTracker::noted).collect();
        for design in unasked.iter().map(SchemaTracker::design) {
            let stored = read(&self.store, table, &design.entity).await?;
            proposals.push(Proposal { design, stored, is_new: false });
        }
        let is_new = request::create_if_missing(&self.store, table).await?;
        for proposal in &mut proposals {
            proposal.is_new = is_new;
        }
        let stored = designs::store(&self.store, table, proposals, self.now(), None).await?;
        let opened = unasked.into_iter().zip(noted).zip(stored).map(|((unasked, noted), stored)| {
            // IMPORTANT: the other handles are notified even if an earlier call stored the schema. That call may have ended before it could notify them.
            let is_own = stored.own.is_some();
            let noted = if is_own { unasked.note(noted, stored.etag.as_ref()) } else { noted };
            unasked.opened((lease.clone(), noted), stored)
        });
        let mut opened: Vec<_> = opened.collect();
        let tracker = opened.pop().map(|last| Arc::new(last.with_members(opened)));
        Ok((Self { tracker, ..self }, is_new))
    }
}

/// Returns a name that two of the schemas share, or `None` if all names differ. Only one of the two could be stored, because a schema is stored under its name.
fn shared_name(schemas: &[&EntitySchema]) -> Option<&'static str> {
    let mut names = schemas.iter().enumerate().map(|(at, schema)| (at, schema.entity));
    names
        .find(|(at, name)| schemas.iter().take(*at).any(|earlier| earlier.entity == *name))
        .map(|(_, name)| name)
}

impl<E: Entity, S: TableStore> Table<E, S> {
    /// Opens a table, and creates it if it does not exist. Alias of [`create_if_missing`](Self::create_if_missing).
    ///
    /// # Errors
    /// Any error from [`create_if_missing`](Self::create_if_missing).
    pub async fn open(self) -> Result<Self> {
        self.create_if_missing().await
    }

    /// Stores the schema of `E` regardless of its compatibility. Call this function after the old rows have been rewritten, or if they are no longer needed.
    ///
    /// The reason, the compatibility and its rules are recorded in [`SchemaRecord::accepted`]. Rows are not changed.
    ///
    /// If the schema is already stored, the call confirms that all rows have been rewritten. Entries for widened properties, such as `property Age`, are then
    /// removed from the pending work.
    ///
    /// ```
    /// # use table_core::{Engine, Entity, TableStoreExt};
    /// # #[derive(Entity)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, id: u32 }
    /// # pollster::block_on(async {
    /// # let store = Engine::in_memory();
    /// let employees = store.table::<Employee>().create_if_missing().await?;
    /// employees.accept_schema("rewritten with 8 digits on 2026-11-20").await?;
    /// let accepted = employees.schema_record().await?.and_then(|layout| layout.accepted);
    /// assert_eq!(accepted.as_deref(), Some("rewritten with 8 digits on 2026-11-20 (same)"));
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn accept_schema(&self, reason: &str) -> Result<()> {
        let table = self.name()?;
        let design = StoredSchema::of(E::SCHEMA).in_table(table.as_str());
        let stored = read(&self.store, table, &design.entity).await?;
        let proposal = Proposal { design: &design, stored, is_new: false };
        let stored = designs::store(&self.store, table, vec![proposal], self.now(), Some(reason)).await;
        // The schema may have been stored even if this call returns an error, so the other handles are always notified.
        if let Some(exclusive) = &self.store.capabilities().exclusive {
            exclusive.schema_notes(table.as_str(), E::SCHEMA.entity).note(None);
        }
        stored.map(drop)
    }

    /// Returns the schema record of this entity type, or `None` if no schema is stored.
    ///
    /// # Errors
    /// `FormatTooNew` or `Corrupted` if the schema cannot be read; any error from the store.
    pub async fn schema_record(&self) -> Result<Option<SchemaRecord>> {
        read(&self.store, self.name()?, E::SCHEMA.entity).await
    }

    /// Returns the store's current time, and the last time an older program recorded that it was running.
    ///
    /// Such a program may still write, although its schema lacks indexes, a feed or copies that the stored schema declares. If a [grant](Self::record_grant) to
    /// a program with a different schema expires later than the recorded time, the expiry of the grant is returned instead. Sends one write and three reads.
    ///
    /// ```
    /// # use table_core::{Engine, Entity, TableStoreExt};
    /// # #[derive(Entity)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, id: u32 }
    /// # pollster::block_on(async {
    /// let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
    /// assert_eq!(employees.sightings().await?.older, None);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `TableNotFound` if no schema has ever been stored; any error from the store.
    #[doc(hidden)]
    pub async fn sightings(&self) -> Result<Sightings> {
        let own = self.own_schema()?.fingerprint();
        sighting::read(&self.store, self.name()?, (E::SCHEMA.entity, own)).await
    }

    /// Grants programs with the schema of `E` permission to write until `expiry`, in [ticks](crate::ticks), without reading the stored schema. Such programs
    /// could make a backfill incomplete. The backfill therefore starts only after that time.
    ///
    /// ```
    /// # use table_core::{Engine, Entity, TableStoreExt, ticks};
    /// # #[derive(Entity)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, id: u32 }
    /// # pollster::block_on(async {
    /// let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
    /// let now = ticks::from_datetime(ticks::now()).expect("the clock is right");
    /// employees.record_grant(now + 36_000_000_000).await?; // for an hour
    /// assert_eq!(employees.sightings().await?.older, None); // the granted schema is the current one
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// - `SchemaMismatch` if a program with this schema may not write.
    /// - `ResourceNotFound` if the handle has not been opened.
    /// - `UpdateConditionNotSatisfied` if too many conflicts occur; any error from the store.
    #[doc(hidden)]
    pub async fn record_grant(&self, expiry: u64) -> Result<()> {
        let (table, schema) = (self.name()?, self.own_schema()?.fingerprint());
        if self.is_current().await?.is_none() {
            return Err(Error::of(TableFault::NoLayout).with_table(table.as_str()));
        }
        let retry = self.retry.clone().unwrap_or_default();
        sighting::grant((&self.store, &retry), table, (E::SCHEMA.entity, schema), expiry).await?;
        // IMPORTANT: the schema is reread after the grant is recorded. If a backfill has started without seeing the grant, the stored schema already forbids
        // older programs, so the reread fails.
        self.is_current().await.map(drop)
    }

    fn own_schema(&self) -> Result<StoredSchema> {
        Ok(StoredSchema::of(E::SCHEMA).in_table(self.name()?.as_str()))
    }
}

impl<E, S: TableStore> Table<E, S> {
    /// Checks that a write may start now. This function is for other handles that write to this table directly.
    ///
    /// The check fails if a program with a newer schema has opened the table, unless this program maintains everything declared by the newer schema. The handle
    /// of a set checks all types of the set.
    ///
    /// The check normally reads the stored schema at most once every [five seconds](LEASE). It reads the schema again if a read takes longer than that, or if
    /// another schema is stored in the meantime. A handle that has not been opened never reads it.
    ///
    /// `runtime` provides the clock and the sleep function.
    ///
    /// Returns the lease within which the write may be sent, for [`Transaction::with_lease`](crate::Transaction::with_lease). Returns `None` if the write may
    /// be sent at any time, because the handle has not been opened or no other process can use the store.
    ///
    /// # Errors
    /// `SchemaMismatch` if the check fails; any error from the store.
    pub async fn admit(&self, runtime: &Runtime) -> Result<Option<WriteLease>> {
        self.admit_all(Some(runtime)).await
    }

    pub(super) async fn admit_all(&self, runtime: Option<&Runtime>) -> Result<Option<WriteLease>> {
        let mut earliest = None;
        for tracker in self.tracker.iter().flat_map(SchemaTracker::of_types) {
            let lease = self.admit_type(tracker, runtime).await?;
            earliest = WriteLease::earliest(earliest, lease);
        }
        Ok(earliest)
    }

    /// Checks that entities of one type may be written now. If `runtime` is `None`, the runtime for the table's retries is used.
    pub(super) async fn admit_type(
        &self,
        tracker: &SchemaTracker,
        runtime: Option<&Runtime>,
    ) -> Result<Option<WriteLease>> {
        let lease = match (tracker.admitted(), runtime) {
            (Some(lease), _) => lease,
            (None, Some(runtime)) => tracker.admit((&self.store, runtime), self.name()?).await?,
            (None, None) => tracker.admit((&self.store, &self.runtime()), self.name()?).await?,
        };
        Ok(tracker.is_shared().then_some(lease))
    }

    /// Makes this handle check before each write that the program may still write. The check shares the state of the handle that created `watch`. If that
    /// handle has not been opened, nothing is checked.
    #[doc(hidden)]
    #[must_use]
    pub fn watched(self, watch: &SchemaWatch) -> Self
    where
        E: Entity,
    {
        let of = |table: &TableName| watch.of(E::SCHEMA, table).0;
        let tracker = self.name.as_ref().ok().and_then(of);
        Self { tracker, ..self }
    }

    /// Makes this handle check before each write that the programs of several handles to the same table may still write. Use this for rows of several types, or
    /// of unknown types. Handles that have not been opened are ignored.
    #[doc(hidden)]
    #[must_use]
    pub fn watched_by(self, watches: impl IntoIterator<Item = SchemaWatch>) -> Self {
        let trackers = watches.into_iter().filter_map(|watch| watch.0).collect();
        Self { tracker: SchemaTracker::of_all(trackers), ..self }
    }

    /// Returns a check for entities with a different schema in a table of the same store. Handles that write such entities along with their own use it.
    ///
    /// The check queries the stored schema only if this handle has been opened. Clones of this handle share its result.
    #[doc(hidden)]
    #[must_use]
    pub fn admission(&self, design: &EntitySchema, table: TableName) -> Admission<S>
    where
        S: Clone,
    {
        let tracker = self.tracker.as_ref().map(|tracker| tracker.related(design, &table));
        Admission { store: self.store.clone(), table, tracker }
    }

    /// Checks that whole rows may be replaced. If a newer schema declares additional properties, a replace would remove them. Call [`admit`](Self::admit)
    /// first, because this check uses its result.
    ///
    /// # Errors
    /// `SchemaMismatch` if a newer schema has properties unknown to this program (EVO-3).
    #[doc(hidden)]
    pub fn admit_whole(&self) -> Result<()> {
        match &self.tracker {
            Some(tracker) => tracker.admit_whole(self.name()?),
            None => Ok(()),
        }
    }

    /// Returns the properties declared by a newer stored schema but not by this handle's schema. Queries the store at most once every [five seconds](LEASE),
    /// and never for a handle that has not been opened. Unlike [`admit`](Self::admit), this function neither waits nor writes.
    ///
    /// Read the stored entity before calling this function. Newer programs write new properties only after every older handle has read the schema that declares
    /// them. The result therefore contains all newer properties of the entity.
    ///
    /// # Errors
    /// `SchemaMismatch` if the program must not write; any error from the store.
    #[doc(hidden)]
    pub async fn newer_properties(&self, runtime: &Runtime) -> Result<Arc<[String]>> {
        match &self.tracker {
            Some(tracker) => tracker.newer_properties((&self.store, runtime), self.name()?).await,
            None => Ok(Arc::default()),
        }
    }

    /// Returns a watch on the stored schemas, as last read by this handle.
    #[doc(hidden)]
    #[must_use]
    pub fn schema_watch(&self) -> SchemaWatch {
        SchemaWatch(self.tracker.clone())
    }

    /// Reads the stored schema. Returns `true` if it equals this handle's schema, or `None` if the handle has not been opened.
    ///
    /// # Errors
    /// `SchemaMismatch` if this program cannot write concurrently with programs that have the stored schema; any error from the store.
    #[doc(hidden)]
    pub async fn is_current(&self) -> Result<Option<bool>> {
        match &self.tracker {
            Some(tracker) => tracker.ask(&self.store, self.name()?).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the current time of the table's clock.
    #[doc(hidden)]
    #[must_use]
    pub fn now(&self) -> u64 {
        self.retry.as_ref().map_or_else(|| Runtime::new().now(), |retry| retry.runtime().now())
    }

    /// Returns the runtime used for the table's retries.
    #[doc(hidden)]
    #[must_use]
    pub fn runtime(&self) -> Runtime {
        self.retry.as_ref().map_or_else(Runtime::new, |retry| retry.runtime().clone())
    }
}

impl<E: Entity, S: TableStore> Table<E, S> {
    /// Changes the stored schema record, but not the schema itself. The record contains the pending indexes, feeds and copies, and the progress of
    /// backfills. `change` may run several times, each time on the current record (CON-3).
    ///
    /// # Errors
    /// `ResourceNotFound` if no schema is stored because the table has never been opened; `UpdateConditionNotSatisfied` if too many conflicts occur.
    #[doc(hidden)]
    pub async fn update_schema_record(&self, change: impl Fn(&mut SchemaRecord)) -> Result<SchemaRecord> {
        let table = self.name()?;
        let key = record::key(table, E::SCHEMA.entity)?;
        let retry = self.retry.clone().unwrap_or_default();
        let mut race = retry.start("the stored schema");
        loop {
            let Some(mut layout) = self.schema_record().await? else {
                return Err(Error::of(TableFault::NoLayout).with_table(table.as_str()));
            };
            let before = layout.clone();
            change(&mut layout);
            layout.schema.clone_from(&before.schema);
            if layout == before {
                return Ok(layout);
            }
            let kind = OperationKind::Replace(layout.to_row(table)?, IfMatch::ETag(layout.etag.clone()));
            match request::write(&self.store, &record::table()?, key.clone(), kind).await {
                Ok(etag) => {
                    layout.etag = etag.unwrap_or(layout.etag);
                    return Ok(layout);
                }
                Err(error) if error.is_precondition_failed() => race.retry(error).await?,
                Err(error) => return Err(error),
            }
        }
    }
}
