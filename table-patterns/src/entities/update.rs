//! Read-modify-write updates of an entity, retried if another writer committed first (CON-3).

use table_core::entity::{Entity, Versioned};
use table_core::etag::IfMatch;
use table_core::operation::OperationKind;
use table_core::store::TableStore;
use table_core::table::{ReportedChange, ReportedFrom, UpdateFrom};
use table_core::{Error, Result, row};

use crate::entities::fault::EntityFault;
use crate::entities::fault::undecided;
use crate::entities::handle::Entities;
use crate::entities::outbox::StepRecorder;
use crate::entities::read::{Current, read_as};

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Updates an entity: reads it, applies `change`, and writes it with its contributed rows. If another writer committed first, this function rereads the
    /// entity and retries (CON-3).
    ///
    /// To save the first read, pass an entity that has already been read. If `change` removes a property, the entity is read anyway.
    ///
    /// - `change` may run several times, each time on a freshly read version. It must not change the key (UPD-6).
    /// - Properties that `E` does not declare are kept. A field that `change` sets to `None` is removed.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the entity does not exist.
    /// - `InvalidInput` if `change` changed the key.
    /// - `UpdateConditionNotSatisfied` if every attempt allowed by the [policy](Self::with_retry) conflicted with another writer.
    /// - `UniqueViolation` or `IndexListFull` from an index, as for `insert`.
    pub fn update<U: ReportedFrom<E>, C: ReportedChange<E, ()>>(
        &self,
        from: U,
        mut change: C,
    ) -> C::Then<U::Then<impl Future<Output = Result<Versioned<E>>>>> {
        let change = move |entity: &mut E| {
            change(entity);
            Ok(())
        };
        C::then(U::then(self.update_from(from.into(), change)))
    }

    /// Updates an entity with a change that may fail. If `change` returns an error, this function returns that error and writes nothing.
    ///
    /// # Errors
    /// Any error from [`update`](Self::update) or `change`.
    pub fn try_update<U: ReportedFrom<E>, C: ReportedChange<E, Result<()>>>(
        &self,
        from: U,
        change: C,
    ) -> C::Then<U::Then<impl Future<Output = Result<Versioned<E>>>>> {
        C::then(U::then(self.update_from(from.into(), change)))
    }

    async fn update_from(
        &self,
        from: UpdateFrom<E>,
        mut change: impl FnMut(&mut E) -> Result<()>,
    ) -> Result<Versioned<E>> {
        let (key, first) = match from {
            UpdateFrom::Key(key) => (key.into_key()?, None),
            UpdateFrom::Read(read) => {
                let (etag, ticks) = (read.etag().clone(), read.ticks());
                let entity = read.into_value();
                (entity.key_of()?, Some(Current { entity, stored: None, etag, ticks }))
            }
        };
        let mut result = None;
        let written = self
            .write_completed(&key, true, first, |current| {
                let mut current = self.expected(&key, current, &IfMatch::Any)?;
                let before = current.entity.to_row()?;
                // Contributors need the entity as it was before the change. It is decoded from its properties, because `E` need not be `Clone`.
                let old = read_as::<E>(&key, &before)?;
                change(&mut current.entity)?;
                let after = current.entity.to_row()?;
                let new_key = current.entity.key_of()?;
                if new_key != key {
                    return Err(self.here(Error::of(EntityFault::KeyChanged(new_key)), &key));
                }
                let if_match = IfMatch::ETag(current.etag);
                let kind = match (row::removes(before.view(), after.view())?, &current.stored) {
                    (false, _) => OperationKind::Merge(after, if_match),
                    (true, Some(stored)) => OperationKind::Replace(
                        row::rewrite(stored.view(), before.view(), after.view())?,
                        if_match,
                    ),
                    // Only a replace operation removes properties (MRG-3). It must also contain the stored properties that `E` does not declare, so all
                    // properties must be read first.
                    (true, None) => return Ok(None),
                };
                let old = (&old, current.stored.as_ref());
                let planned = self.plan(key.clone(), kind, Some(old), Some(&current.entity))?;
                result = Some((current.entity, current.ticks));
                Ok(Some(planned))
            })
            .await?;
        let (entity, ticks) = result.ok_or_else(undecided)?;
        let entity = written.row.map(|row| read_as(&key, &row)).transpose()?.unwrap_or(entity);
        let etag = self.written(written.etag)?;
        let ticks = etag.ticks().unwrap_or(ticks);
        Ok(Versioned::new(entity, etag, ticks))
    }
}
