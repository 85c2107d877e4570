//! Writes of single typed entities (INS, UPD, MRG, UPS, DEL rules).

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_store::Result;

use crate::entity::ToEntity;
use crate::etag::{ETag, IntoIfMatch};
use crate::key::EntityKey;
use crate::operation::OperationKind;
use crate::row::Row;
use crate::selection::{PointKey, Primary};
use crate::store::{TableStore, written};
use crate::table::{Table, request};

/// An encoded write to one entity.
struct EntityWrite {
    key: EntityKey,
    kind: OperationKind,
    /// `true` if the entity is replaced entirely.
    is_whole: bool,
}

impl EntityWrite {
    fn new<E: ToEntity>(
        entity: &E,
        row: Result<Row>,
        kind: impl FnOnce(Row) -> OperationKind,
    ) -> Result<Self> {
        let kind = kind(row?);
        let is_whole = matches!(kind, OperationKind::Replace(..) | OperationKind::InsertOrReplace(_));
        Ok(Self { key: entity.entity_key()?, kind, is_whole })
    }
}

// The bound is on each method, so the error message for an entity with derived rows can name the right handle. The futures are boxed: for an
// `async fn`, rustc checks the bounds again at each `.await`, and reports one mistake three times.
impl<E, S: TableStore> Table<E, S> {
    /// Inserts an entity and returns its version.
    ///
    /// # Errors
    /// `EntityAlreadyExists` if an entity with this key exists (INS-1); any error for an entity that exceeds the limits.
    pub fn insert(&self, entity: &E) -> BoxFuture<'_, Result<ETag>>
    where
        E: ToEntity,
    {
        self.write(EntityWrite::new(entity, entity.entity_row(), OperationKind::Insert))
    }

    /// Replaces the stored entity with the same key. Stored properties that `E` does not declare are removed (UPD-1, IMP-1).
    ///
    /// The condition is an [`ETag`], or [`IfMatch::Any`](crate::etag::IfMatch::Any) for "last writer wins" (CON-4).
    ///
    /// # Errors
    /// `ResourceNotFound` if the entity does not exist (UPD-2); `UpdateConditionNotSatisfied` if its version differs (UPD-3).
    pub fn replace(&self, entity: &E, if_match: impl IntoIfMatch) -> BoxFuture<'_, Result<ETag>>
    where
        E: ToEntity,
    {
        let if_match = if_match.into();
        self.write(EntityWrite::new(entity, entity.entity_row(), |row| OperationKind::Replace(row, if_match)))
    }

    /// Merges the entity into the stored entity with the same key. Stored properties are kept if `E` does not declare them, or if their field is
    /// `None` (MRG-1, MRG-3).
    ///
    /// # Errors
    /// `ResourceNotFound` if the entity does not exist; `UpdateConditionNotSatisfied` if its version differs (MRG-2).
    pub fn merge(&self, entity: &E, if_match: impl IntoIfMatch) -> BoxFuture<'_, Result<ETag>>
    where
        E: ToEntity,
    {
        let if_match = if_match.into();
        self.write(EntityWrite::new(entity, entity.merge_row(), |row| OperationKind::Merge(row, if_match)))
    }

    /// Inserts the entity, or replaces the stored entity with the same key, regardless of its version (UPS-2, UPS-6).
    ///
    /// # Errors
    /// Any error for an entity that exceeds the limits.
    pub fn insert_or_replace(&self, entity: &E) -> BoxFuture<'_, Result<ETag>>
    where
        E: ToEntity,
    {
        self.write(EntityWrite::new(entity, entity.entity_row(), OperationKind::InsertOrReplace))
    }

    /// Inserts the entity, or merges it into the stored entity with the same key, regardless of its version (UPS-2, UPS-6).
    ///
    /// # Errors
    /// Any error for an entity that exceeds the limits.
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
        key: impl PointKey<E, From = Primary>,
        if_match: impl IntoIfMatch,
    ) -> BoxFuture<'_, Result<()>>
    where
        E: ToEntity,
    {
        let (key, kind) = (key.into_point(), OperationKind::Delete(if_match.into()));
        async move {
            self.admit(self.now()).await?;
            request::write(&self.store, self.name()?, key.into_key()?, kind).await.map(drop)
        }
        .boxed()
    }

    fn write(&self, write: Result<EntityWrite>) -> BoxFuture<'_, Result<ETag>> {
        async move {
            let EntityWrite { key, kind, is_whole } = write?;
            self.admit(self.now()).await?;
            if is_whole {
                self.admit_whole()?;
            }
            let table = self.name()?;
            let etag = request::write(&self.store, table, key, kind).await?;
            written(table, etag)
        }
        .boxed()
    }
}
