//! Tenants: counting, exporting, importing, copying and erasing all of one tenant's data, in one or several tables.
//!
//! # Context
//! A tenant leaves and wants its data, moves to another account, or must be erased. Its data includes more than the rows in its partition: *remote rows* (index
//! rows and copies in other partitions or tables), members of lists, references, registrations and blobs. A loop over the partition's rows misses all of these.
//! It also loses the state of sequences, so the copy would assign numbers that are already in use.
//!
//! # Locations
//! A [`Tenant`] is a list of *locations*. A location is a table (or [one table per period](crate::periods)) with a selection of whole partitions. Types in the
//! same tables and partitions share a location. Each entity type is registered with its handle. The declarations of the registered types determine the remote
//! rows. Every function fails if a registered type's entity set (the types declared to share its table) contains an unregistered type with remote rows. The
//! tenant is unaware of types outside the set, so an erasure leaves their remote rows.
//!
//! # Verbs
//! | verb | effect |
//! |---|---|
//! | [`count`](Tenant::count) | counts the entities of each type, other rows, and blobs |
//! | [`export`](Tenant::export) | returns JSON lines: each row with its property types, each blob in parts; resumable |
//! | [`import`](Tenant::import) | writes an export's rows and blobs to the same or different partitions, then writes the remote rows |
//! | [`copy_to`](Tenant::copy_to) | exports and imports without a file |
//! | [`erase`](Tenant::erase) | deletes everything, and verifies the deletion |
//!
//! # Lines
//! A line is a JSON object with one member: `Tenant`, the header; `Row`, an entity in the service's JSON format; `Blob`, a part of a blob in base64; or `End`,
//! the last line. Values are exported without loss of precision. Timestamps are not exported, because the target store assigns new ones; recorded steps keep
//! their Timestamps as versions.
//!
//! # Guarantee
//! - An import into an empty store yields the exported rows, their remote rows, and the blobs. Sequences continue from their last number, feed cursors remain
//!   valid, and recorded steps are performed, including those set aside as poison.
//! - The target's indexes are complete after an import, even if an older release wrote the export or a source index was being built. An import refuses an
//!   export with rows that the importing program cannot read.
//! - Imported steps are sealed with the importing program's key, so import only trusted files. An [outbox](crate::outbox) checks and writes the seals, so an
//!   export or an import of recorded steps is refused if none of the table's registered handles has an outbox.
//! - The [guards](crate::outbox::guard) of index rows, and the references to holders of copies, are not exported: an import recreates them. The guards of
//!   recorded steps' targets are exported with their partitions, so an imported step does not overwrite its target if a newer step was performed before the
//!   export. An import into a partition with a different name omits these guards.
//! - An import into partitions with different names adapts blob addresses. It refuses recorded steps, entities whose `RowKey`s, properties or index entries derive
//!   from the PartitionKey, and rows of unregistered types whose RowKey or strings contain the PartitionKey. Before such an export, run a worker until all
//!   steps are done.
//! - Repeat an interrupted call, or continue it from a stored resume position. Rows already processed are skipped or rewritten with the same content. Sequences
//!   and feeds are not rewound. A blob is imported again from its first part; no part of a blob is lost.
//! - Running programs rely on the registration of an erased tenant's partition: they would not register it again if the tenant returned, and sweeps would then
//!   miss its steps. To prevent this, the registration is only marked as erased. The first [sweep](crate::work::Sweep) after two hours removes it.
//!
//! # Cost
//! An export and a count read each row once. An import writes up to 100 rows of a partition per transaction. It then reads imported entities with remote rows,
//! and settles each of these rows like a worker. If the export may lack index rows in the tenant's partitions, because its schemas differ or are unknown, the
//! import also reads the indexed entities, with a few requests for each entity and index. An erasure reads each row, removes the remote rows one by one, and
//! deletes the tenant's rows in transactions of 100. Its final verification reads the partitions again, and all remote indexes of the registered types,
//! including the entries of other tenants.
//!
//! # Bounds
//! - **Writers.** Stop the tenant's writers during an export, an import and an erasure. A period table dropped during an export is omitted.
//! - **Grants.** A [grant](crate::grant) issued before an erasure does not register its partition again. Issue a new one when the tenant returns.
//! - **Registration.** Register all types in a table from one store. Register them with the same partitions if their `PartitionKey`s have the same format. Rows
//!   in two selections of one table are counted and exported twice.
//! - **Views.** Register the tables of the entities' [views](crate::view) separately. A view that aggregates several tenants must be rebuilt after an erasure,
//!   because the erasure also deletes the feed.
//! - **Handlers.** Handlers of recorded steps may write to other tables: register these tables as well. Also register the partitions to which recorded steps
//!   write. Otherwise, after the import, a step that was set aside can overwrite the result of a newer step performed before the export.
//! - **Clocks.** The exported guards contain versions from the source's clock. If that clock was ahead, the target's workers skip new steps for the same
//!   targets until the target's clock has caught up.
//! - **Blobs.** The target's blobs must not be in the source's folder of the same blob store, because erasing one tenant would delete the other's blobs. A copy
//!   into the same folder is refused, and so is an import unless it resumes an earlier one. Use a different container, or a different folder with
//!   `object_store::prefix::PrefixStore`.
//! - **Workers.** Start the target's workers after the import, because a step performed during the import may precede its target's guard.
//! - **Leftovers.** The guard of an index row removed earlier remains until [`collect_all_guards`](crate::outbox::guard::collect_all_guards) deletes it. An
//!   earlier blob of a list shared by several tenants remains until the orphan collector deletes it.
//! - **Other copies.** Backups and queue messages are not changed. Messages contain only keys.
//!
//! # When not to
//! If each tenant has separate tables or a separate store, drop the tables, or copy the folder.
//!
//! ```
//! use table_patterns::sequence::GaplessSequence;
//! use table_patterns::tenant::Tenant;
//! use table_patterns::unit::UnitOfWork;
//! use table_patterns::{Engine, Entity, EntityStore};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Desk", feed)]
//! #[partition_key(tenant)]
//! #[row_key("ticket_", number)]
//! #[index(ByText, row_key("text_", escaped(text), "!", number))]
//! struct Ticket { tenant: String, #[digits(6)] number: u32, text: String }
//!
//! # pollster::block_on(async {
//! let (store, other) = (Engine::in_memory(), Engine::in_memory());
//! let tickets = store.entities::<Ticket>().create_if_missing().await?;
//! let numbers = GaplessSequence::new(&tickets, "ticket")?;
//! for tenant in ["contoso", "adatum"] {
//!     let insert = |number, unit: &mut UnitOfWork<_, _>| {
//!         unit.insert(&Ticket { tenant: tenant.into(), number, text: "It beeps.".into() }).map(drop)
//!     };
//!     numbers.next(Ticket::partition(tenant), insert).await?;
//! }
//!
//! // Copy to another store, where the numbers continue.
//! let copied = other.entities::<Ticket>();
//! let contoso = Tenant::new().with_entities(&tickets, Ticket::partition("contoso"))?;
//! contoso.copy_to(&Tenant::new().with_entities(&copied, Ticket::partition("contoso"))?).await?;
//! let next = GaplessSequence::new(&copied, "ticket")?
//!     .next(Ticket::partition("contoso"), |number, unit| {
//!         unit.insert(&Ticket { tenant: "contoso".into(), number, text: "It still does.".into() }).map(drop)
//!     })
//!     .await?;
//! assert_eq!(next, 2);
//!
//! let erased = contoso.erase().await?;
//! assert!(erased.rows > 0 && contoso.remaining().await? == 0);
//! assert_eq!(tickets.query(Ticket::rows("adatum")).collect().await?.len(), 1);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

#[cfg(feature = "blobs")]
mod blobs;
mod count;
mod erase;
mod export;
mod fault;
mod import;
mod incoming;
#[cfg(feature = "blobs")]
mod incoming_blobs;
mod lacking;
mod line;
mod member;
mod newer;
#[cfg(feature = "blobs")]
mod open_blob;
mod partitions;
mod periodic;
mod place;
mod position;
mod schemas;
#[cfg(test)]
mod tests;
mod transfer;
mod type_info;
mod typed;

use std::fmt;
use std::sync::Arc;

use table_core::entity::{Entity, PlainEntity};
use table_core::selection::{Class, IntoSelection, Selection};
use table_core::store::{DynTableStore, TableStore};
use table_core::{Result, Table};

pub use count::Count;
pub use erase::Erased;
pub use export::Export;
pub use import::{Import, Imported};
use member::Member;
use partitions::Partitions;
use periodic::InPeriods;
#[cfg(feature = "blobs")]
use place::FolderOf;
use place::{Place, Tables};
pub use position::{ExportPosition, MissingBlob};
use typed::Typed;

#[cfg(feature = "blobs")]
use crate::blob::BlobFolder;
use crate::entities::{Entities, StepRecorder};
use crate::periods::{PeriodTables, Periodic};

/// One tenant's data; see [the module](crate::tenant). Cheap to clone.
#[derive(Clone, Default)]
pub struct Tenant {
    places: Vec<Place>,
}

impl Tenant {
    /// Creates a tenant without registered types. For an import, register types in the same order as for the export.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers an entity type with its handle and the tenant's partitions.
    ///
    /// # Errors
    /// `InvalidInput` if the selection covers only part of a partition, or if it is a range of partitions but not all partitions with the same leading key
    /// levels; `KeyEncoding` if a value cannot be part of a key.
    pub fn with_entities<E, S, O, C>(
        self,
        entities: &Entities<E, S, O>,
        selection: impl IntoSelection<E, C>,
    ) -> Result<Self>
    where
        E: Entity + Send + Sync,
        S: TableStore + Clone + 'static,
        O: StepRecorder,
        C: Class,
    {
        let table = entities.table().name()?.clone();
        let store = DynTableStore::new(entities.table().store().clone());
        let place = Place::new(store, Tables::One(table), partitions(selection.into_selection())?);
        #[cfg(feature = "blobs")]
        let place = match lists_of(entities)? {
            Some(folder) => Place { blobs: vec![Arc::new(move |_| Ok(Some(folder.clone())))], ..place },
            None => place,
        };
        self.with_member(place, Typed(entities.clone()))
    }

    /// Registers an entity type written through a plain [`Table`].
    ///
    /// # Errors
    /// Any error from [`with_entities`](Self::with_entities).
    pub fn with_table<E, S, C>(self, table: &Table<E, S>, selection: impl IntoSelection<E, C>) -> Result<Self>
    where
        E: PlainEntity + Send + Sync,
        S: TableStore + Clone + 'static,
        C: Class,
    {
        self.with_entities(&Entities::from(table.clone()), selection)
    }

    /// Registers an entity type with one table per period. All existing tables are included. Types registered with the same tables and partitions are counted,
    /// exported and erased together. The names of list blobs must not depend on the period, except through the table's name: an import and an export also call
    /// the function passed to [`with_handles`](PeriodTables::with_handles) for the table name without a period.
    ///
    /// # Errors
    /// Any error from [`with_entities`](Self::with_entities).
    pub fn with_periods<E, S, C>(
        self,
        tables: &PeriodTables<E, S>,
        selection: impl IntoSelection<E, C>,
    ) -> Result<Self>
    where
        E: Periodic,
        S: TableStore + Clone + 'static,
        C: Class,
    {
        let store = DynTableStore::new(tables.store().clone());
        let source = Tables::Periods(Arc::new(InPeriods(tables.clone())));
        let place = Place::new(store, source, partitions(selection.into_selection())?);
        #[cfg(feature = "blobs")]
        let place = {
            let tables = tables.clone();
            Place { blobs: vec![Arc::new(move |table| lists_of(&tables.handle_to(table)))], ..place }
        };
        self.with_member(place, InPeriods(tables.clone()))
    }

    /// Registers the blobs of an entity type, whose table must already be registered. For a type with one table per period, the handle to any of the tables
    /// registers the blobs of all of them. Handles with blobs in the same folder must share one `Arc` of the blob store; otherwise, the blobs are counted once
    /// per handle.
    ///
    /// # Errors
    /// `InvalidInput` if the table is not registered.
    #[cfg(feature = "blobs")]
    pub fn with_blobs<E, S, O>(mut self, large: &crate::large::LargeTable<E, S, O>) -> Result<Self>
    where
        E: crate::large::Large + Send + Sync,
        S: TableStore + Clone + 'static,
        O: StepRecorder,
    {
        let (table, store) = (large.table().name()?, large.store.clone());
        store.folder(table)?;
        let folders: FolderOf = Arc::new(move |table| store.folder(table).map(Some));
        let mut is_known = false;
        for place in self.places.iter_mut().filter(|place| place.has(table)) {
            place.add_folders(&folders);
            is_known = true;
        }
        if is_known {
            return Ok(self);
        }
        let fault = fault::TenantFault::UnregisteredBlobs(E::SCHEMA.entity);
        Err(table_core::Error::of(fault).with_table(table.as_str()))
    }

    /// Adds an entity type to the registered location (tables and partitions) that equals `place`, or to a new location if none does. Every location in a table
    /// gets the types and the blob folders of all locations in that table, because one type's partitions may contain rows of another type.
    fn with_member(mut self, place: Place, member: impl Member + 'static) -> Result<Self> {
        #[cfg(feature = "blobs")]
        let mut place = place;
        let member: Arc<dyn Member> = Arc::new(member);
        let (mut members, mut is_known) = (vec![Arc::clone(&member)], false);
        for known in &mut self.places {
            if !known.tables.is_same(&place.tables)? {
                continue;
            }
            let is_here = known.partitions == place.partitions;
            if is_here || !has(&known.members, &*member) {
                known.members.push(Arc::clone(&member));
            }
            for other in &known.members {
                if !has(&members, &**other) {
                    members.push(Arc::clone(other));
                }
            }
            #[cfg(feature = "blobs")]
            known.share_folders(&mut place);
            is_known |= is_here;
        }
        if !is_known {
            self.places.push(Place { members, ..place });
        }
        Ok(self)
    }

    /// Returns an error if an unregistered type in a location's tables may have rows in other partitions or tables.
    fn check(&self) -> Result<()> {
        self.places.iter().try_for_each(Place::check)
    }
}

/// Returns `true` if `members` contains the entity type of `member`.
fn has(members: &[Arc<dyn Member>], member: &dyn Member) -> bool {
    members.iter().any(|known| known.schema().entity == member.schema().entity)
}

/// Returns the partitions covered by a selection.
///
/// # Errors
/// `InvalidInput` if the selection covers only part of a partition.
fn partitions<E, C: Class>(selection: Selection<E, C>) -> Result<Vec<Partitions>> {
    selection.into_ranges()?.iter().map(Partitions::of).collect()
}

/// Returns the folder with list blobs; `None` if no index in the entities' partitions is a list, or if no list blobs are configured.
#[cfg(feature = "blobs")]
fn lists_of<E, S, O>(entities: &Entities<E, S, O>) -> Result<Option<BlobFolder>>
where
    E: Entity,
    S: TableStore + Clone + 'static,
    O: StepRecorder,
{
    use table_core::schema::IndexKind;

    let mut indexes = E::SCHEMA.indexes.iter();
    let has_lists = indexes.any(|index| index.kind == IndexKind::List && index.is_same_partition());
    let Some(lists) = entities.list_blobs().filter(|_| has_lists) else { return Ok(None) };
    lists.store.folder(entities.table().name()?).map(Some)
}

impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.places.iter().map(|place| (place.name().ok(), &place.partitions));
        f.debug_map().entries(places).finish()
    }
}
