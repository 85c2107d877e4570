//! Units of work: one entity group transaction over several entity types of one partition, with all that their patterns add.
//!
//! # Context
//! A ticket is closed, a comment says so, the agent who did it must exist, and the customer is notified: one change, all or nothing.
//!
//! # Guarantee
//! - All or none (EGT-9): entities of any types of one table, their copies and lists in indexes, rows of their
//!   [participants](crate::participant), records of the [feed](crate::feed), conditions, and steps elsewhere.
//! - What replaces, updates or deletes takes the entity as it was read: its version is the condition, its values say what is beside it.
//! - A unit is made of what it was given: where a list or a copy was not as it was thought to be, it looks and tries again; where an entity
//!   was, it fails, and says which.
//!
//! # Cost
//! One request, and a look-up for each list, and for each copy where an index is not known to be whole.
//!
//! # Bounds
//! 100 operations (EGT-2), 4 MiB (EGT-3), each row once (EGT-4), one table and partition (EGT-1, EGT-5): reported as they are added, with what they are made
//! of. A condition is an empty merge, as the service has no other: it changes the version of what it asks for.
//! Entities with [copies](crate::denormal) are completed when the unit is committed: what they copy is read then, or taken from the source in
//! the same unit, and a row too many by them is an error of the commit.
//!
//! # When not to
//! For one entity: the verbs of the handle. For more than fits: [bulk](crate::index::Entities::bulk), which is not atomic.
//!
//! ```
//! use table_patterns::index::EntityStore;
//! use table_patterns::unit::Unit;
//! use table_patterns::{Engine, Entity, ErrorCode};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Desk")]
//! #[partition_key(tenant)]
//! #[row_key("agent_", id)]
//! struct Agent { tenant: String, #[digits(4)] id: u32, name: String }
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Desk")]
//! #[partition_key(tenant)]
//! #[row_key("ticket_", number)]
//! #[index(ByStatus, row_key("status_", status, "_", number))]
//! struct Ticket { tenant: String, #[digits(6)] number: u32, #[without('_')] status: String, comments: i32 }
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Desk")]
//! #[partition_key(tenant)]
//! #[row_key("comment_", ticket, "_", number)]
//! struct Comment { tenant: String, #[digits(6)] ticket: u32, #[digits(4)] number: u32, text: String }
//!
//! # pollster::block_on(async {
//! let store = Engine::in_memory();
//! let tickets = store.entities::<Ticket>().create_if_missing().await?;
//! let ticket = Ticket { tenant: "contoso".into(), number: 17, status: "open".into(), comments: 0 };
//! tickets.insert(&ticket).await?;
//! let ticket = tickets.get(Ticket::key("contoso", 17)).await?.expect("inserted above");
//! let comment = Comment { tenant: "contoso".into(), ticket: 17, number: 1, text: "Done.".into() };
//!
//! let close = || -> Result<Unit<_, _>, table_patterns::Error> {
//!     let mut unit = tickets.transaction(Ticket::partition("contoso"))?;
//!     unit.require(Agent::key("contoso", 9))?;
//!     unit.update(&ticket, |ticket| (ticket.status, ticket.comments) = ("closed".into(), 1))?;
//!     unit.insert(&comment)?;
//!     Ok(unit)
//! };
//! let error = close()?.commit().await.unwrap_err();
//! assert!(error.is_not_found() && error.to_string().contains("condition on `Agent`"), "{error}");
//!
//! store.entities::<Agent>().insert(&Agent { tenant: "contoso".into(), id: 9, name: "Ada".into() }).await?;
//! assert_eq!(close()?.commit().await?.len(), 2); // the versions of ticket and comment
//! assert_eq!(tickets.query(Ticket::by_status("contoso", "closed")).collect().await?.len(), 1);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod act;
mod fault;
mod kept;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use table_core::entity::{Entity, Versioned};
use table_core::error::{Error, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::row::RowWriter;
use table_core::selection::{Partition, Point, Selection};
use table_core::store::TableStore;

use crate::feed::Feed;
use crate::index::{Batch, Beside, Entities, IndexOutbox, Other, Road, Write};
use crate::outbox::Step;
use crate::series::{Series, SeriesRow};

use act::Act;
use fault::UnitFault;
use kept::{Keep, Part, keep};

/// Writes of entities of one partition and of all that their patterns add, applied all or none: see [the module](self).
#[must_use = "a unit does nothing until it is committed"]
pub struct Unit<S, O> {
    road: Road<S, O>,
    table: TableName,
    batch: Batch,
    /// Of each entity of the batch, what is done to it; conditions give no version back.
    acts: Vec<Act>,
    /// What the batch is made of.
    parts: Vec<Part>,
    /// The feeds of holders that a change of a source writes.
    feed: Feed<S>,
    /// Whether a copy is to change whose index is not known to be whole.
    look: bool,
    /// Handles with participants, by entity type.
    handles: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    /// Asks, of the types that are written, whether a program of a newer design has opened them; and whether rows may be replaced as a whole.
    admissions: HashMap<TypeId, (Admission, bool)>,
}

type Admission = Arc<dyn Fn(bool) -> BoxFuture<'static, Result<()>> + Send + Sync>;

impl<E: Entity, S: TableStore + Clone + 'static, O: IndexOutbox + 'static> Entities<E, S, O> {
    /// Begins a unit of work on one partition. Sends nothing.
    ///
    /// # Errors
    /// `KeyEncoding`, `PropertyValueTooLarge` if the partition has no legal key (KEY-8).
    pub fn transaction(&self, partition: Selection<E, Partition>) -> Result<Unit<S, O>> {
        self.transaction_in(key_of(partition)?)
    }

    /// The same of a partition whose key is known.
    pub(crate) fn transaction_in(&self, partition_key: PartitionKey) -> Result<Unit<S, O>> {
        let unit = Unit {
            road: self.road(),
            table: self.table().name()?.clone(),
            batch: Batch::new(partition_key),
            acts: Vec::new(),
            parts: Vec::new(),
            feed: self.feed().clone(),
            look: false,
            handles: HashMap::new(),
            admissions: HashMap::new(),
        };
        Ok(unit.with(self))
    }
}

/// The key of a partition.
pub(crate) fn key_of<E>(partition: Selection<E, Partition>) -> Result<PartitionKey> {
    let ranges = partition.into_ranges()?;
    let name = ranges.first().and_then(|range| range.partition_key.single()).unwrap_or_default();
    PartitionKey::new(name)
}

impl<S: TableStore + Clone + 'static, O: IndexOutbox + 'static> Unit<S, O> {
    /// Writes entities of another type through their handle, with its participants. A type without a handle is written with what its
    /// struct declares.
    pub fn with<E: Entity>(mut self, table: &Entities<E, S, O>) -> Self {
        self.handles.insert(TypeId::of::<E>(), Box::new(table.clone()));
        self
    }

    fn handle<E: Entity>(&self) -> Entities<E, S, O> {
        let known = self.handles.get(&TypeId::of::<E>()).and_then(|handle| handle.downcast_ref());
        known.cloned().unwrap_or_else(|| self.road.handle())
    }

    /// Adds an insert: the entity must not exist (INS-1).
    ///
    /// # Errors
    /// One operation, or byte, too many (EGT-2, EGT-3), a row that is in it already (EGT-4), another partition (EGT-5) or table (EGT-1), a
    /// value that is in it already (PAT-INTRA-5). The unit stays as it was.
    pub fn insert<E: Entity>(&mut self, entity: &E) -> Result<&mut Self> {
        let kind = OperationKind::Insert(entity.to_row()?);
        self.write(&entity.key_of()?, kind, None, Some(entity))
    }

    /// Adds a replace of an entity as it was read (UPD-1).
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert); `InvalidInput` if the two have different keys (UPD-6).
    pub fn replace<E: Entity>(&mut self, old: &Versioned<E>, new: &E) -> Result<&mut Self> {
        let key = new.key_of()?;
        if old.key_of()? != key {
            return Err(self.here(Error::of(UnitFault::KeyChanged), &key));
        }
        let kind = OperationKind::Replace(new.to_row()?, IfMatch::ETag(old.etag().clone()));
        self.write(&key, kind, Some(old.value()), Some(new))
    }

    /// Adds a change of an entity as it was read. Properties that `E` does not know are removed, as [`replace`](Self::replace) does: slots
    /// of a series are kept by [`put_series`](Self::put_series).
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace).
    pub fn update<E: Entity + Clone>(
        &mut self,
        old: &Versioned<E>,
        change: impl FnOnce(&mut E),
    ) -> Result<&mut Self> {
        let mut new = old.value().clone();
        change(&mut new);
        self.replace(old, &new)
    }

    /// Adds what makes an entity be as given: an insert where none was read, a replace of what was.
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace).
    pub fn put<E: Entity>(&mut self, old: Option<&Versioned<E>>, new: &E) -> Result<&mut Self> {
        match old {
            Some(old) => self.replace(old, new),
            None => self.insert(new),
        }
    }

    /// As [`put`](Self::put) of an entity that has slots: those that are empty here are empty afterwards.
    ///
    /// ```
    /// # use table_patterns::index::EntityStore;
    /// # use table_patterns::series::{self, Series, SeriesRow, SeriesTable};
    /// # use table_patterns::{Engine, Entity};
    /// # #[derive(Entity, Clone, Debug, PartialEq)]
    /// # #[entity(table = "Counts", feed)]
    /// # #[partition_key(employee)]
    /// # #[row_key(day)]
    /// # struct Counts { employee: u32, #[digits(8)] day: u32 }
    /// # impl Series for Counts {
    /// #     type Value = i32;
    /// #     const SLOTS: &'static [&'static str] = series::HOURS;
    /// # }
    /// # pollster::block_on(async {
    /// let counts = Engine::in_memory().entities::<Counts>().create_if_missing().await?;
    /// let mut row = SeriesRow::new(Counts { employee: 123, day: 20140423 });
    /// *row.slot_mut(9)? = Some(42);
    /// let mut unit = counts.transaction(Counts::partition(123))?;
    /// unit.put_series(None, &row)?; // with whatever else is of this partition
    /// unit.commit().await?;
    /// let read = SeriesTable::new(counts).get(Counts::key(123, 20140423)).await?;
    /// assert_eq!(read.as_deref(), Some(&row));
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace).
    pub fn put_series<E: Series>(
        &mut self,
        old: Option<&Versioned<SeriesRow<E>>>,
        new: &SeriesRow<E>,
    ) -> Result<&mut Self> {
        let (key, row) = (new.entity.key_of()?, new.to_row()?);
        let kind = match old {
            Some(old) if old.entity.key_of()? != key => {
                return Err(self.here(Error::of(UnitFault::KeyChanged), &key));
            }
            Some(old) => OperationKind::Replace(row, IfMatch::ETag(old.etag().clone())),
            None => OperationKind::Insert(row),
        };
        self.write(&key, kind, old.map(|old| &old.entity), Some(&new.entity))
    }

    /// Adds a delete of an entity as it was read (DEL-2).
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn delete<E: Entity>(&mut self, old: &Versioned<E>) -> Result<&mut Self> {
        let kind = OperationKind::Delete(IfMatch::ETag(old.etag().clone()));
        self.write(&old.key_of()?, kind, Some(old.value()), None)
    }

    /// Adds the condition that an entity is there. It changes its version, and nothing else.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn require<E: Entity>(&mut self, key: Selection<E, Point>) -> Result<&mut Self> {
        self.condition::<E>(key.into_key()?, IfMatch::Any)
    }

    /// Adds the condition that an entity is as it was read. It changes its version, and nothing else.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn unchanged<E: Entity>(&mut self, read: &Versioned<E>) -> Result<&mut Self> {
        self.condition::<E>(read.key_of()?, IfMatch::ETag(read.etag().clone()))
    }

    /// Intends a step elsewhere, of the entity of a key: a worker takes it once the unit is committed (PAT-EC-8). It needs a handle with an outbox.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert). That two guarded steps of one entity have one target is an error when the unit is committed.
    pub fn send<E: Entity>(&mut self, of: Selection<E, Point>, step: Step) -> Result<&mut Self> {
        let key = of.into_key()?;
        self.check_place::<E>(&key)?;
        let mut batch = self.batch.clone();
        batch.intend(&key.row_key, vec![step.clone()]);
        self.take(batch, &key)?.parts.push(Part::Step(key.row_key, step));
        Ok(self)
    }

    /// Adds a row of a pattern.
    pub(crate) fn beside(&mut self, by: &'static str, operation: Operation) -> Result<&mut Self> {
        let row_key = operation.row_key.clone();
        let key = EntityKey { partition_key: self.batch.partition_key.clone(), row_key };
        let mut batch = self.batch.clone();
        let row = Beside { by, operation };
        batch.add(row.clone()).map_err(|error| self.here(error, &key))?;
        self.take(batch, &key)?.parts.push(Part::Row(row));
        Ok(self)
    }

    fn write<E: Entity>(
        &mut self,
        key: &EntityKey,
        kind: OperationKind,
        old: Option<&E>,
        new: Option<&E>,
    ) -> Result<&mut Self> {
        self.check_place::<E>(key)?;
        let act = Act { entity: E::SCHEMA.entity, verb: Some(kind.name()) };
        let is_whole = matches!(kind, OperationKind::Replace(..));
        let handle = self.handle::<E>();
        let keep = keep(&handle, key, &kind, old)?;
        let write = handle.write_of(key.clone(), kind, old, new).map_err(|error| self.here(error, key))?;
        self.road.feed = self.road.feed.take().or_else(|| handle.recorder().cloned());
        let look = !handle.knows(&write);
        self.push::<E>(write, act, keep)?;
        self.look |= look;
        let admission: Admission = Arc::new(move |is_whole| {
            let handle = handle.clone();
            Box::pin(async move { handle.admit(is_whole).await })
        });
        self.admissions.entry(TypeId::of::<E>()).or_insert((admission, false)).1 |= is_whole;
        Ok(self)
    }

    fn condition<E: Entity>(&mut self, key: EntityKey, if_match: IfMatch) -> Result<&mut Self> {
        self.check_place::<E>(&key)?;
        let kind = OperationKind::Merge(RowWriter::with_capacity(0).finish(), if_match);
        let act = Act { entity: E::SCHEMA.entity, verb: None };
        self.push::<E>(Write::alone(key, kind), act, None)
    }

    fn push<E: Entity>(&mut self, write: Write, act: Act, keep: Option<Keep>) -> Result<&mut Self> {
        let key = write.key.clone();
        let mut batch = self.batch.clone();
        let part = Part::Write(Other { write: write.clone(), push: Batch::push::<E> }, keep);
        batch.push::<E>(write).map_err(|error| self.here(error.with_context(&act.to_string()), &key))?;
        self.take(batch, &key).map_err(|error| error.with_context(&act.to_string()))?.acts.push(act);
        self.parts.push(part);
        Ok(self)
    }

    /// Takes a larger batch, if it fits.
    fn take(&mut self, batch: Batch, key: &EntityKey) -> Result<&mut Self> {
        let limits = self.road.store.capabilities().limits;
        let (operations, most) = (batch.operations(), limits.operations);
        if operations > most {
            let fault = UnitFault::Operations { operations, parts: batch.parts(), most };
            return Err(self.here(Error::of(fault), key));
        }
        let (bytes, most) = (batch.bytes(), limits.transaction_bytes);
        if bytes > most {
            let fault = UnitFault::Bytes { bytes, parts: batch.parts(), most };
            return Err(self.here(Error::of(fault), key));
        }
        self.batch = batch;
        Ok(self)
    }

    fn check_place<E: Entity>(&self, key: &EntityKey) -> Result<()> {
        let fault = if key.partition_key != self.batch.partition_key {
            let (entity, unit) = (key.partition_key.clone(), self.batch.partition_key.clone());
            UnitFault::Partition { entity, unit }
        } else if !E::SCHEMA.table.eq_ignore_ascii_case(self.table.as_str()) {
            UnitFault::Table { entity: E::SCHEMA.table, unit: self.table.clone() }
        } else {
            return Ok(());
        };
        Err(self.here(Error::of(fault), key))
    }

    fn here(&self, error: Error, key: &EntityKey) -> Error {
        let error = error.with_table(self.table.as_str());
        match error.key() {
            Some(_) => error,
            None => error.with_key(key.partition_key.as_str(), key.row_key.as_str()),
        }
    }

    /// How many operations it holds at most, those of copies, lists, participants and the outbox included.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.batch.operations()
    }

    /// The sum of the sizes of entities, copies and rows of participants, by the published formula (SIZE-2).
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.batch.bytes()
    }

    /// Applies all or nothing, and gives the new versions of the entities in order, conditions left out; `None` for a delete.
    ///
    /// # Errors
    /// That of the first entity that is not as its condition has it, with its [position](Error::operation), type and verb; that of a row that
    /// a participant or an index adds, with its name; `UniqueViolation` (PAT-INTRA-5), `IndexListFull` (PAT-IX-4); `InvalidInput` for a unit without
    /// operations (EGT-12); `UpdateConditionNotSatisfied` if all attempts lost their race for a list.
    pub async fn commit(self) -> Result<Vec<Option<ETag>>> {
        if self.batch.entities.is_empty() {
            return Err(Error::of(UnitFault::Empty).with_table(self.table.as_str()));
        }
        for (admission, is_whole) in self.admissions.values() {
            admission(*is_whole).await?;
        }
        let etags = if self.parts.iter().any(Part::keeps) {
            self.commit_kept().await
        } else {
            self.road.commit(&self.table, &self.batch, self.look).await
        };
        let etags = etags.map_err(|error| self.named(error))?;
        let of_acts = self.acts.iter().zip(etags);
        Ok(of_acts.filter(|(act, _)| act.verb.is_some()).map(|(_, etag)| etag).collect())
    }
}

impl<S: fmt::Debug, O: fmt::Debug> fmt::Debug for Unit<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unit").field("table", &self.table).field("acts", &self.acts).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
