//! Single writes: an entity and all that its indexes hold of it in its partition, in one transaction (PAT-INTRA-4).

use table_core::entity::{Entity, Versioned};
use table_core::error::{Error, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::operation::OperationKind;
use table_core::row::{self, Row};
use table_core::selection::{PointKey, Primary};
use table_core::store::TableStore;
use table_core::table::UpdateFrom;

use crate::index::attempts::{Current, read_as, undecided};
use crate::index::fault::IndexFault;
use crate::index::outbox::IndexOutbox;
use crate::index::table::Entities;

impl<E: Entity, S: TableStore, O: IndexOutbox> Entities<E, S, O> {
    /// Inserts an entity with what its indexes hold of it. One request, no read, where no list is kept in the partition.
    ///
    /// # Errors
    /// `EntityAlreadyExists` (INS-1); `UniqueViolation` if another entity has the value of a unique index (PAT-INTRA-5), whose
    /// source is a [`UniqueViolation`](crate::index::UniqueViolation); `IndexListFull` (PAT-IX-4). Nothing is written then.
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        let key = entity.key_of()?;
        let written = self
            .write(&key, false, None, |_| {
                self.write_of(key.clone(), OperationKind::Insert(entity.to_row()?), None, Some(entity))
                    .map(Some)
            })
            .await?;
        self.written(written)
    }

    /// Replaces the entity of this key (UPD-1). Reads what is replaced, for its copies: two requests at least.
    ///
    /// # Errors
    /// `ResourceNotFound`, `UpdateConditionNotSatisfied` (UPD-2, UPD-3), and those of the indexes, as for
    /// [`insert`](Self::insert).
    pub async fn replace(&self, entity: &E, if_match: impl Into<IfMatch>) -> Result<ETag> {
        let (key, if_match) = (entity.key_of()?, if_match.into());
        self.admit_whole().await?;
        if self.is_blind() {
            let kind = OperationKind::Replace(entity.to_row()?, if_match);
            return self.written(self.write_blind(key, kind).await?);
        }
        let written = self
            .write(&key, true, None, |current| {
                let current = self.expected(&key, current, &if_match)?;
                let kind = OperationKind::Replace(entity.to_row()?, current.etag.into());
                self.write_of(key.clone(), kind, Some(&current.entity), Some(entity)).map(Some)
            })
            .await?;
        self.written(written)
    }

    /// Merges the entity into the one of this key: fields that are `None` are kept (MRG-1, MRG-3). Reads first.
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace).
    pub async fn merge(&self, entity: &E, if_match: impl Into<IfMatch>) -> Result<ETag> {
        let (key, if_match) = (entity.key_of()?, if_match.into());
        if self.is_blind() {
            let kind = OperationKind::Merge(entity.to_merge()?, if_match);
            return self.written(self.write_blind(key, kind).await?);
        }
        let written = self
            .write(&key, true, None, |current| {
                let current = self.expected(&key, current, &if_match)?;
                self.merged(&key, &current, entity.to_merge()?).map(Some)
            })
            .await?;
        self.written(written)
    }

    /// Inserts the entity, or replaces the one of this key whatever its version (UPS-2). Reads first.
    ///
    /// # Errors
    /// Those of the indexes, as for [`insert`](Self::insert).
    pub async fn insert_or_replace(&self, entity: &E) -> Result<ETag> {
        self.put_row(entity, entity.to_row()?).await
    }

    /// The same of an entity with these properties, its own among them.
    pub(crate) async fn put_row(&self, entity: &E, row: Row) -> Result<ETag> {
        let key = entity.key_of()?;
        self.admit_whole().await?;
        if self.is_blind() {
            return self.written(self.write_blind(key, OperationKind::InsertOrReplace(row)).await?);
        }
        let written = self
            .write(&key, true, None, |current| {
                let kind = match &current {
                    Some(current) => OperationKind::Replace(row.clone(), IfMatch::ETag(current.etag.clone())),
                    None => OperationKind::Insert(row.clone()),
                };
                let old = current.as_ref().map(|current| &current.entity);
                self.write_of(key.clone(), kind, old, Some(entity)).map(Some)
            })
            .await?;
        self.written(written)
    }

    /// Inserts the entity, or merges it into the one of this key whatever its version (UPS-2). Reads first.
    ///
    /// # Errors
    /// Those of the indexes, as for [`insert`](Self::insert).
    pub async fn insert_or_merge(&self, entity: &E) -> Result<ETag> {
        self.merge_row(entity, entity.to_merge()?).await
    }

    /// The same of an entity with these properties, its own among them.
    pub(crate) async fn merge_row(&self, entity: &E, row: Row) -> Result<ETag> {
        let key = entity.key_of()?;
        if self.is_blind() {
            return self.written(self.write_blind(key, OperationKind::InsertOrMerge(row)).await?);
        }
        let written = self
            .write(&key, true, None, |current| {
                self.merged_or_inserted(&key, current.as_ref(), (entity, row.clone())).map(Some)
            })
            .await?;
        self.written(written)
    }

    /// Deletes an entity with what its indexes hold of it. Reads first, for what that is.
    ///
    /// # Errors
    /// `ResourceNotFound` (DEL-3), `UpdateConditionNotSatisfied` (DEL-2).
    pub async fn delete(
        &self,
        key: impl PointKey<E, From = Primary>,
        if_match: impl Into<IfMatch>,
    ) -> Result<()> {
        let (key, if_match) = (key.into_point().into_key()?, if_match.into());
        if self.is_blind() {
            return self.write_blind(key, OperationKind::Delete(if_match)).await.map(drop);
        }
        self.write(&key, true, None, |current| {
            let current = self.expected(&key, current, &if_match)?;
            let kind = OperationKind::Delete(current.etag.into());
            self.write_of(key.clone(), kind, Some(&current.entity), None).map(Some)
        })
        .await?;
        Ok(())
    }

    /// Changes an entity: read, `change`, write with its indexes if no other writer wrote in between, else read again and repeat
    /// (CON-3). An entity read before saves the first read.
    ///
    /// - `change` may run several times, each time on a freshly read entity; it must not change the key (UPD-6).
    /// - Properties that `E` does not know are kept; a field set to `None` is removed.
    ///
    /// # Errors
    /// `ResourceNotFound`; `InvalidInput` if `change` changed the key; `UpdateConditionNotSatisfied` if all
    /// attempts of the [policy](Self::with_retry) lost their race; those of the indexes, as for [`insert`](Self::insert).
    pub async fn update(
        &self,
        from: impl Into<UpdateFrom<E>>,
        mut change: impl FnMut(&mut E),
    ) -> Result<Versioned<E>> {
        self.try_update(from, |entity| {
            change(entity);
            Ok(())
        })
        .await
    }

    /// As [`update`](Self::update) with a change that may refuse: its error is given back and nothing is written.
    ///
    /// # Errors
    /// Those of [`update`](Self::update) and of `change`.
    pub async fn try_update(
        &self,
        from: impl Into<UpdateFrom<E>>,
        mut change: impl FnMut(&mut E) -> Result<()>,
    ) -> Result<Versioned<E>> {
        let (key, first) = match from.into() {
            UpdateFrom::Key(key) => (key.into_key()?, None),
            UpdateFrom::Read(read) => {
                let (etag, ticks) = (read.etag().clone(), read.ticks());
                let entity = read.into_value();
                (entity.key_of()?, Some(Current { entity, stored: None, etag, ticks }))
            }
        };
        let mut result = None;
        let (etag, kept) = self
            .write_kept(&key, true, first, |current| {
                let mut current = self.expected(&key, current, &IfMatch::Any)?;
                let before = current.entity.to_row()?;
                // The entity as it was, for its copies: `E` need not be `Clone`.
                let old = read_as::<E>(&key, &before)?;
                change(&mut current.entity)?;
                let after = current.entity.to_row()?;
                if current.entity.key_of()? != key {
                    return Err(self.here(Error::of(IndexFault::KeyChanged), &key));
                }
                let if_match = IfMatch::ETag(current.etag);
                let kind = match (row::removes(before.view(), after.view())?, &current.stored) {
                    (false, _) => OperationKind::Merge(after, if_match),
                    (true, Some(stored)) => OperationKind::Replace(
                        row::rewrite(stored.view(), before.view(), after.view())?,
                        if_match,
                    ),
                    // Only a replace removes (MRG-3): what E does not know must be sent along.
                    (true, None) => return Ok(None),
                };
                let write = self.write_of(key.clone(), kind, Some(&old), Some(&current.entity))?;
                result = Some((current.entity, current.ticks));
                Ok(Some(write))
            })
            .await?;
        let (entity, ticks) = result.ok_or_else(undecided)?;
        let entity = kept.map(|row| read_as(&key, &row)).transpose()?.unwrap_or(entity);
        let etag = self.written(etag)?;
        let ticks = etag.ticks().unwrap_or(ticks);
        Ok(Versioned::new(entity, etag, ticks))
    }
}
