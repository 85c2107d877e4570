//! Writes of single typed entities (INS, UPD, MRG, UPS, DEL rules).

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_store::Result;

use crate::entity::ToEntity;
use crate::etag::{ETag, IntoIfMatch};
use crate::key::EntityKey;
use crate::operation::OperationKind;
use crate::row::Row;
use crate::selection::{OwnSource, PointKey};
use crate::store::{Committed, TableStore, written};
use crate::table::written_types::WrittenTypes;
use crate::table::{Table, request, submit_admitted};
use crate::transaction::Transaction;

/// An encoded write of one entity.
pub(super) struct EntityWrite {
    pub(super) key: EntityKey,
    pub(super) kind: OperationKind,
    pub(super) written: WrittenTypes,
}

impl EntityWrite {
    fn new<E: ToEntity>(
        entity: &E,
        row: Result<Row>,
        kind: impl FnOnce(Row) -> OperationKind,
    ) -> Result<Self> {
        let kind = kind(row?);
        let is_whole = matches!(kind, OperationKind::Replace(..) | OperationKind::InsertOrReplace(_));
        let written = WrittenTypes::new(entity.own_schema(), is_whole);
        Ok(Self { key: entity.entity_key()?, kind, written })
    }
}

// The bound is on each method, so the error message for an entity with derived rows can suggest the right handle. The futures are boxed because rustc checks
// the bounds of an `async fn` again at each `.await`, and would report the same mistake three times.
impl<E, S: TableStore> Table<E, S> {
    /// Inserts an entity and returns its version.
    ///
    /// # Errors
    /// `EntityAlreadyExists` if an entity with this key exists (INS-1); a validation error, such as `EntityTooLarge`, if the entity exceeds the limits.
    pub fn insert(&self, entity: &E) -> BoxFuture<'_, Result<ETag>>
    where
        E: ToEntity,
    {
        self.write(EntityWrite::new(entity, entity.entity_row(), OperationKind::Insert))
    }

    /// Replaces the stored entity with the same key. Stored properties not declared by `E` are removed (UPD-1, IMP-1).
    ///
    /// The condition is an [`ETag`], or [`IfMatch::Any`](crate::etag::IfMatch::Any) for "last writer wins" (CON-4).
    ///
    /// # Errors
    /// `ResourceNotFound` if the entity does not exist (UPD-2); `UpdateConditionNotSatisfied` if its version differs (UPD-3).
    pub fn replace(&self, entity: &E, etag_or_any: impl IntoIfMatch) -> BoxFuture<'_, Result<ETag>>
    where
        E: ToEntity,
    {
        let if_match = etag_or_any.into();
        self.write(EntityWrite::new(entity, entity.entity_row(), |row| OperationKind::Replace(row, if_match)))
    }

    /// Merges the entity into the stored entity with the same key. A stored property is kept if `E` does not declare it, or if its field is `None` (MRG-1,
    /// MRG-3).
    ///
    /// # Errors
    /// `ResourceNotFound` if the entity does not exist; `UpdateConditionNotSatisfied` if its version differs (MRG-2).
    pub fn merge(&self, entity: &E, etag_or_any: impl IntoIfMatch) -> BoxFuture<'_, Result<ETag>>
    where
        E: ToEntity,
    {
        let if_match = etag_or_any.into();
        self.write(EntityWrite::new(entity, entity.merge_row(), |row| OperationKind::Merge(row, if_match)))
    }

    /// Inserts the entity, or replaces the stored entity with the same key, regardless of its version (UPS-2, UPS-6).
    ///
    /// # Errors
    /// A validation error, such as `EntityTooLarge`, if the entity exceeds the limits.
    pub fn insert_or_replace(&self, entity: &E) -> BoxFuture<'_, Result<ETag>>
    where
        E: ToEntity,
    {
        self.write(EntityWrite::new(entity, entity.entity_row(), OperationKind::InsertOrReplace))
    }

    /// Inserts the entity, or merges it into the stored entity with the same key, regardless of its version (UPS-2, UPS-6).
    ///
    /// # Errors
    /// A validation error, such as `EntityTooLarge`, if the entity exceeds the limits.
    pub fn insert_or_merge(&self, entity: &E) -> BoxFuture<'_, Result<ETag>>
    where
        E: ToEntity,
    {
        self.write(EntityWrite::new(entity, entity.merge_row(), OperationKind::InsertOrMerge))
    }

    /// Deletes an entity.
    ///
    /// # Errors
    /// `ResourceNotFound` if the entity does not exist, regardless of the `ETag` (DEL-3); `UpdateConditionNotSatisfied` if its version
    /// differs (DEL-2).
    pub fn delete(
        &self,
        key: impl PointKey<E, From: OwnSource<E>>,
        etag_or_any: impl IntoIfMatch,
    ) -> BoxFuture<'_, Result<()>>
    where
        E: ToEntity,
    {
        let (key, kind) = (OwnSource::into_own(key.into_point()), OperationKind::Delete(etag_or_any.into()));
        async move {
            let key = key.into_key()?;
            let written = WrittenTypes::new(E::schemas(), false);
            self.write_one(EntityWrite { key, kind, written }).await.map(drop)
        }
        .boxed()
    }

    fn write(&self, write: Result<EntityWrite>) -> BoxFuture<'_, Result<ETag>> {
        async move {
            let etag = self.write_one(write?).await?;
            written(self.name()?, etag)
        }
        .boxed()
    }

    /// Writes one entity. Returns the new version, or `None` for a delete.
    pub(super) async fn write_one(&self, write: EntityWrite) -> Result<Option<ETag>> {
        let EntityWrite { key, kind, written } = write;
        let transaction = request::transaction_of(&self.store, self.name()?, key, kind)?;
        Ok(self.submit(transaction, &[written]).await?.into_iter().next().flatten())
    }

    /// Submits the transaction, after checking that its entity types may currently be written. Every write to a typed table goes through this function.
    ///
    /// # Errors
    /// Any error from [`admit_types`](Self::admit_types) or the store.
    pub(super) async fn submit(
        &self,
        transaction: Transaction,
        written: &[WrittenTypes],
    ) -> Result<Committed> {
        let table = self.name()?;
        let send = |transaction| request::submit(&self.store, table, transaction);
        let replaces =
            transaction.operations().iter().any(|operation| operation.kind.replaces_unconditionally());
        let admit = || async move { Ok(self.admit_types(written).await?.filter(|_| replaces)) };
        submit_admitted(transaction, admit, send).await
    }
}
