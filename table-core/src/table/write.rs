//! Single writes of typed entities (INS, UPD, MRG, UPS, DEL rules).

use crate::entity::ToEntity;
use crate::error::Result;
use crate::etag::{ETag, IfMatch};
use crate::operation::OperationKind;
use crate::row::Row;
use crate::selection::{PointKey, Primary};
use crate::store::{TableStore, written};
use crate::table::{Table, request};

// The bound is on each method, so the message for an entity with derived rows can name the right handle.
impl<E, S: TableStore> Table<E, S> {
    /// Inserts an entity and returns its version.
    ///
    /// # Errors
    /// `EntityAlreadyExists` if the key exists, without any change (INS-1); any error for an entity that exceeds its limits.
    pub async fn insert(&self, entity: &E) -> Result<ETag>
    where
        E: ToEntity,
    {
        self.write_entity(entity, OperationKind::Insert).await
    }

    /// Replaces the stored entity with the same key. Stored properties that `E` does not declare are removed (UPD-1, IMP-1).
    ///
    /// The condition is either an [`ETag`] or [`IfMatch::Any`] for "last writer wins" (CON-4).
    ///
    /// # Errors
    /// `ResourceNotFound` (UPD-2), `UpdateConditionNotSatisfied` for another version (UPD-3).
    pub async fn replace(&self, entity: &E, if_match: impl Into<IfMatch>) -> Result<ETag>
    where
        E: ToEntity,
    {
        let if_match = if_match.into();
        self.put_whole(entity, |row| OperationKind::Replace(row, if_match)).await
    }

    /// Merges the entity into the stored one with the same key. Stored properties that are not declared, or whose field is `None`, are kept (MRG-1,
    /// MRG-3).
    ///
    /// # Errors
    /// `ResourceNotFound`, `UpdateConditionNotSatisfied` (MRG-2).
    pub async fn merge(&self, entity: &E, if_match: impl Into<IfMatch>) -> Result<ETag>
    where
        E: ToEntity,
    {
        let if_match = if_match.into();
        self.write(entity, OperationKind::Merge(entity.merge_row()?, if_match)).await
    }

    /// Inserts the entity, or replaces the stored one with the same key, regardless of its version (UPS-2, UPS-6).
    ///
    /// # Errors
    /// Any error for an entity that exceeds its limits.
    pub async fn insert_or_replace(&self, entity: &E) -> Result<ETag>
    where
        E: ToEntity,
    {
        self.put_whole(entity, OperationKind::InsertOrReplace).await
    }

    /// Inserts the entity, or merges it into the stored one with the same key, regardless of its version (UPS-2, UPS-6).
    ///
    /// # Errors
    /// Any error for an entity that exceeds its limits.
    pub async fn insert_or_merge(&self, entity: &E) -> Result<ETag>
    where
        E: ToEntity,
    {
        self.write(entity, OperationKind::InsertOrMerge(entity.merge_row()?)).await
    }

    /// Deletes an entity.
    ///
    /// # Errors
    /// `ResourceNotFound` if the entity does not exist, regardless of the `ETag` (DEL-3); `UpdateConditionNotSatisfied` (DEL-2).
    pub async fn delete(
        &self,
        key: impl PointKey<E, From = Primary>,
        if_match: impl Into<IfMatch>,
    ) -> Result<()>
    where
        E: ToEntity,
    {
        let kind = OperationKind::Delete(if_match.into());
        self.admit(self.now()).await?;
        request::write(&self.store, self.name()?, key.into_point().into_key()?, kind).await?;
        Ok(())
    }

    async fn put_whole(&self, entity: &E, kind: impl FnOnce(Row) -> OperationKind) -> Result<ETag>
    where
        E: ToEntity,
    {
        self.admit(self.now()).await?;
        self.admit_whole()?;
        self.write_entity(entity, kind).await
    }

    async fn write_entity(&self, entity: &E, kind: impl FnOnce(Row) -> OperationKind) -> Result<ETag>
    where
        E: ToEntity,
    {
        self.write(entity, kind(entity.entity_row()?)).await
    }

    async fn write(&self, entity: &E, kind: OperationKind) -> Result<ETag>
    where
        E: ToEntity,
    {
        let table = self.name()?;
        self.admit(self.now()).await?;
        let etag = request::write(&self.store, table, entity.entity_key()?, kind).await?;
        written(table, etag)
    }
}
