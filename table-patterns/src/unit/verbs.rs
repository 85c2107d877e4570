//! Writes of single entities in a unit of work, and conditions on entities.

use table_core::entity::{Entity, Versioned};
use table_core::etag::IfMatch;
use table_core::operation::{OperationKind, RowState};
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::entities::StepRecorder;
use crate::outbox::Step;
use crate::series::{Series, SeriesRow};
use crate::unit::UnitOfWork;
use crate::unit::change::Change;
use crate::unit::fault::UnitFault;
use crate::unit::was_read::WasRead;

impl<S: TableStore + Clone + 'static, O: StepRecorder> UnitOfWork<S, O> {
    /// Adds an operation that inserts an entity. The entity must not exist (INS-1).
    ///
    /// # Errors
    /// - `InvalidInput` if the unit of work would have too many operations (EGT-2), or the entity is in another table (EGT-1).
    /// - `RequestBodyTooLarge` if the unit of work would have too many bytes (EGT-3).
    /// - `InvalidDuplicateRow` if the unit of work already writes the row (EGT-4).
    /// - `CommandsInBatchActOnDifferentPartitions` if the entity is in another partition (EGT-5).
    /// - `UniqueViolation` if another entity in the unit of work has the same unique value (PAT-INTRA-5).
    ///
    /// After an error, the unit of work is unchanged.
    pub fn insert<E: Entity + Send + Sync>(&mut self, entity: &E) -> Result<&mut Self> {
        let kind = OperationKind::Insert(entity.to_row()?);
        self.write("insert", entity.key_of()?, kind, None, Some(entity))
    }

    /// Adds an operation that replaces an entity that has been read. Properties that `E` does not declare, such as the slots of a series, are kept. A field
    /// that is `None` is removed. If a property is removed or the entity has copies, the commit first reads the entity.
    ///
    /// # Errors
    /// `InvalidInput` if `old` and `new` have different keys (UPD-6); any error from [`insert`](Self::insert).
    pub fn replace<'a, R: WasRead<'a, Entity: Send + Sync>>(
        &mut self,
        old: R,
        new: &R::Entity,
    ) -> Result<&mut Self> {
        let old = old.into_versioned();
        let key = new.key_of()?;
        if old.key_of()? != key {
            return Err(self.here(Error::of(UnitFault::KeyChanged), &key));
        }
        let (before, after) = (old.to_row()?, new.to_row()?);
        self.change(&key, Change { etag: old.etag(), old: (old.value(), before), new: (new, after) })
    }

    /// Adds an update of an entity that has been read. `change` is applied to a clone, with which the entity is [replaced](Self::replace).
    ///
    /// # Errors
    /// Any error from [`replace`](Self::replace).
    pub fn update<'a, R: WasRead<'a, Entity: Clone + Send + Sync>>(
        &mut self,
        old: R,
        change: impl FnOnce(&mut R::Entity),
    ) -> Result<&mut Self> {
        let old = old.into_versioned();
        let mut new = old.value().clone();
        change(&mut new);
        self.replace(old, &new)
    }

    /// Adds an operation that replaces the entity `old`, or inserts `new` if `old` is `None`.
    ///
    /// # Errors
    /// Any error from [`replace`](Self::replace).
    pub fn save<E: Entity + Send + Sync>(
        &mut self,
        old: Option<&Versioned<E>>,
        new: &E,
    ) -> Result<&mut Self> {
        match old {
            Some(old) => self.replace(old, new),
            None => self.insert(new),
        }
    }

    /// Adds an operation that inserts or replaces an entity with all its slots. Slots without a value are removed.
    ///
    /// # Errors
    /// Any error from [`replace`](Self::replace).
    pub fn put_series<E: Send + Sync + Series>(
        &mut self,
        old: Option<&Versioned<SeriesRow<E>>>,
        new: &SeriesRow<E>,
    ) -> Result<&mut Self> {
        let (key, row) = (new.entity.key_of()?, new.to_row()?);
        let Some(old) = old else {
            return self.write("insert", key, OperationKind::Insert(row), None, Some(&new.entity));
        };
        if old.entity.key_of()? != key {
            return Err(self.here(Error::of(UnitFault::KeyChanged), &key));
        }
        let (before, etag) = (old.to_row()?, old.etag());
        self.change(&key, Change { etag, old: (&old.entity, before), new: (&new.entity, row) })
    }

    /// Adds an operation that deletes an entity that has been read (DEL-2).
    ///
    /// # Errors
    /// Any error from [`insert`](Self::insert).
    pub fn delete<'a, R: WasRead<'a, Entity: Send + Sync>>(&mut self, old: R) -> Result<&mut Self> {
        let old = old.into_versioned();
        let kind = OperationKind::Delete(IfMatch::ETag(old.etag().clone()));
        self.write("delete", old.key_of()?, kind, Some((old.value(), None)), None)
    }

    /// Adds the condition that an entity exists. On a store without
    /// [checks](table_core::store::Capabilities::checks), the condition changes the entity's version.
    ///
    /// # Errors
    /// Any error from [`insert`](Self::insert).
    pub fn require<E: Entity>(&mut self, key: Selection<E, Point>) -> Result<&mut Self> {
        self.condition::<E>(key.into_key()?, RowState::Present(IfMatch::Any))
    }

    /// Adds the condition that an entity has not changed since it was read. On a store without
    /// [checks](table_core::store::Capabilities::checks), the condition changes the entity's version.
    ///
    /// # Errors
    /// Any error from [`insert`](Self::insert).
    pub fn unchanged<'a, R: WasRead<'a>>(&mut self, read: R) -> Result<&mut Self> {
        let read = read.into_versioned();
        self.condition::<R::Entity>(read.key_of()?, RowState::Present(IfMatch::ETag(read.etag().clone())))
    }

    /// Adds the condition that an entity does not exist, without inserting it. The commit fails with `EntityAlreadyExists` if the entity exists.
    ///
    /// # Errors
    /// `Unsupported` on a store without [checks](table_core::store::Capabilities::checks), such as the
    /// Table service (ENG-21); any error from [`insert`](Self::insert).
    pub fn require_absent<E: Entity>(&mut self, key: Selection<E, Point>) -> Result<&mut Self> {
        let key = key.into_key()?;
        if !self.store.capabilities().checks {
            return Err(self.here(RowState::Absent.unsupported(), &key));
        }
        self.condition::<E>(key, RowState::Absent)
    }

    /// Adds a step in another partition, table or store, on behalf of an entity. The handle needs an outbox. A worker performs the step after the unit of work
    /// has been committed (PAT-EC-8).
    ///
    /// # Errors
    /// Any error from [`insert`](Self::insert). If one entity has two guarded steps with the same target, the commit fails.
    pub fn add_step<E: Entity>(&mut self, of: Selection<E, Point>, step: Step) -> Result<&mut Self> {
        let key = of.into_key()?;
        self.check_place::<E>(&key)?;
        self.push_step(&key, step)
    }
}
