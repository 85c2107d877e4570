//! Single-entity writes: insert, replace, merge, upsert and delete (PAT-INTRA-4).

use table_core::Result;
use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::row::Row;
use table_core::selection::ReportedOwnKey;
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::table::ReportedIfMatch;

use crate::entities::handle::Entities;
use crate::entities::outbox::StepRecorder;
use crate::entities::read::{Current, RACE};

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Inserts an entity together with its contributed rows. This normally sends a single request and reads nothing, with these exceptions:
    /// - A handle that has been opened rereads the stored schema after five seconds.
    /// - An index list in the entity's partition is read before it is changed.
    /// - A holder of copies reads the copied entities.
    /// - An outbox registers the partition before it records the first intent there, and again an hour later.
    /// - A feed reads its head before the first write to the partition. If the feed is new or quiet, it also lists the partition.
    ///
    /// # Errors
    /// - `EntityAlreadyExists` if an entity with this key exists (INS-1).
    /// - `UniqueViolation` if another entity has the same value in a unique index (PAT-INTRA-5). The error's source is
    ///   a [`UniqueViolation`](crate::index::UniqueViolation).
    /// - `IndexListFull` if an index list would exceed its declared maximum length (PAT-IX-4).
    ///
    /// If any of these errors is returned, nothing has been written.
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        let key = entity.key_of()?;
        let written = self
            .write(&key, false, None, |_| {
                self.plan(key.clone(), OperationKind::Insert(entity.to_row()?), None, Some(entity)).map(Some)
            })
            .await?;
        self.written(written)
    }

    /// Replaces the stored entity with the same key (UPD-1). If a contributor needs the stored version, reads it first.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the entity does not exist (UPD-2).
    /// - `UpdateConditionNotSatisfied` if its version differs (UPD-3).
    /// - `UniqueViolation` or `IndexListFull` from an index, as for `insert`.
    pub fn replace<V: ReportedIfMatch>(
        &self,
        entity: &E,
        etag_or_any: V,
    ) -> V::Then<impl Future<Output = Result<ETag>>> {
        V::then(self.replace_version(entity, etag_or_any.into()))
    }

    async fn replace_version(&self, entity: &E, if_match: IfMatch) -> Result<ETag> {
        let key = entity.key_of()?;
        self.admit(true).await?;
        let blind = if self.is_blind() { Some(entity.to_row()?) } else { None };
        let blind = blind.map(|row| OperationKind::Replace(row, if_match.clone()));
        if let Some(kind) = blind.filter(|kind| self.is_blind_for(kind)) {
            return self.written(self.write_blind(key, kind).await?);
        }
        let written = self
            .write(&key, true, None, |current| {
                let current = self.expected(&key, current, &if_match)?;
                let kind = OperationKind::Replace(entity.to_row()?, current.etag.clone().into());
                let plan = self.plan(key.clone(), kind, Some(current.old()), Some(entity))?;
                Ok(Some(plan.whole(true)))
            })
            .await?;
        self.written(written)
    }

    /// Merges an entity into the stored entity. If a field is `None`, the stored property is kept (MRG-1, MRG-3). If a contributor needs the stored version,
    /// reads it first.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the entity does not exist.
    /// - `UpdateConditionNotSatisfied` if its version differs (MRG-2).
    /// - `UniqueViolation` or `IndexListFull` from an index, as for `insert`.
    pub fn merge<V: ReportedIfMatch>(
        &self,
        entity: &E,
        etag_or_any: V,
    ) -> V::Then<impl Future<Output = Result<ETag>>> {
        V::then(self.merge_version(entity, etag_or_any.into()))
    }

    async fn merge_version(&self, entity: &E, if_match: IfMatch) -> Result<ETag> {
        let key = entity.key_of()?;
        let blind = if self.is_blind() { Some(entity.to_merge()?) } else { None };
        let blind = blind.map(|row| OperationKind::Merge(row, if_match.clone()));
        if let Some(kind) = blind.filter(|kind| self.is_blind_for(kind)) {
            return self.written(self.write_blind(key, kind).await?);
        }
        let written = self
            .write(&key, true, None, |current| {
                let current = self.expected(&key, current, &if_match)?;
                self.plan_merge(&key, &current, entity.to_merge()?).map(Some)
            })
            .await?;
        self.written(written)
    }

    /// Inserts the entity, or replaces the stored entity regardless of its version (UPS-2). If a contributor needs the stored version, reads it first.
    ///
    /// # Errors
    /// `UniqueViolation` or `IndexListFull` from an index, as for `insert`; an error if the entity exceeds a limit.
    pub async fn insert_or_replace(&self, entity: &E) -> Result<ETag> {
        self.put_row(entity, entity.to_row()?).await
    }

    /// Inserts `row` under the key of `entity`, or replaces the row stored there. `row` must contain at least the properties of `entity`.
    ///
    /// # Errors
    /// Any error from [`insert_or_replace`](Self::insert_or_replace).
    pub(crate) async fn put_row(&self, entity: &E, row: Row) -> Result<ETag> {
        let key = entity.key_of()?;
        self.admit(true).await?;
        if self.is_blind() {
            return self.written(self.write_blind(key, OperationKind::InsertOrReplace(row)).await?);
        }
        let written = self
            .write(&key, true, None, |current| {
                let kind = match &current {
                    Some(current) => OperationKind::Replace(row.clone(), IfMatch::ETag(current.etag.clone())),
                    None => OperationKind::Insert(row.clone()),
                };
                let old = current.as_ref().map(Current::old);
                Ok(Some(self.plan(key.clone(), kind, old, Some(entity))?.whole(true)))
            })
            .await?;
        self.written(written)
    }

    /// Inserts the entity, or merges it into the stored entity regardless of its version (UPS-2). If a contributor needs the stored version, reads it first.
    ///
    /// # Errors
    /// `UniqueViolation` or `IndexListFull` from an index, as for `insert`; an error if the entity exceeds a limit.
    pub async fn insert_or_merge(&self, entity: &E) -> Result<ETag> {
        let (key, row) = (entity.key_of()?, entity.to_merge()?);
        if self.is_blind() {
            return self.written(self.write_blind(key, OperationKind::InsertOrMerge(row)).await?);
        }
        self.read_and_merge(&key, (entity, &row, &row)).await
    }

    /// Merges `changed` into the stored row with the key of `entity`. Properties that `changed` does not contain are kept. If no such row is stored, inserts
    /// `whole` instead, which must contain all properties of `entity` and of `changed`.
    ///
    /// # Errors
    /// Any error from [`insert_or_merge`](Self::insert_or_merge).
    pub(crate) async fn merge_or_insert(&self, entity: &E, (changed, whole): (&Row, &Row)) -> Result<ETag> {
        let key = entity.key_of()?;
        if !self.is_blind() {
            return self.read_and_merge(&key, (entity, changed, whole)).await;
        }
        let write = |kind| self.write_blind(key.clone(), kind);
        if changed.view().len() == whole.view().len() {
            return self.written(write(OperationKind::InsertOrMerge(whole.clone())).await?);
        }
        let mut race = self.retry.start(RACE);
        loop {
            match write(OperationKind::Merge(changed.clone(), IfMatch::Any)).await {
                Err(error) if error.is_not_found() && !error.is_table_not_found() => {}
                merged => return self.written(merged?),
            }
            match write(OperationKind::Insert(whole.clone())).await {
                Err(error) if error.is_already_exists() => race.retry(error).await?,
                inserted => return self.written(inserted?),
            }
        }
    }

    async fn read_and_merge(&self, key: &EntityKey, merged: (&E, &Row, &Row)) -> Result<ETag> {
        let plan =
            |current: Option<Current<E>>| self.plan_merge_or_insert(key, current.as_ref(), merged).map(Some);
        self.written(self.write(key, true, None, plan).await?)
    }

    /// Deletes an entity and its contributed rows. If a contributor needs the stored version, reads it first.
    ///
    /// # Errors
    /// `ResourceNotFound` if the entity does not exist (DEL-3); `UpdateConditionNotSatisfied` if its version differs (DEL-2).
    pub fn delete<K: ReportedOwnKey<E>, V: ReportedIfMatch>(
        &self,
        key: K,
        etag_or_any: V,
    ) -> V::Then<K::Then<impl Future<Output = Result<()>>>> {
        V::then(K::then(self.delete_point(key.into_own(), etag_or_any.into())))
    }

    async fn delete_point(&self, key: Selection<E, Point>, if_match: IfMatch) -> Result<()> {
        let key = key.into_key()?;
        if self.is_blind() {
            return self.write_blind(key, OperationKind::Delete(if_match)).await.map(drop);
        }
        self.write(&key, true, None, |current| {
            let current = self.expected(&key, current, &if_match)?;
            let kind = OperationKind::Delete(current.etag.clone().into());
            self.plan(key.clone(), kind, Some(current.old()), None).map(Some)
        })
        .await?;
        Ok(())
    }
}
