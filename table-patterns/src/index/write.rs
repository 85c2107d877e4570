//! Single writes: an entity and all that its indexes hold of it in its partition, in one transaction (PAT-INTRA-4).

use table_core::entity::{Entity, Versioned};
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, Select};
use table_core::row::{self, Row};
use table_core::selection::{Primary, WholeKey};
use table_core::store::{self, TableStore};
use table_core::table::UpdateFrom;

use crate::index::batch::{Batch, Write};
use crate::index::commit::{Attempt, Mode, attempt, touches};
use crate::index::outbox::IndexOutbox;
use crate::index::pace::back_off;
use crate::index::state::load;
use crate::index::table::IndexedTable;

/// How often a write is tried before it gives up. Each lost attempt means that another writer's succeeded (CON-5).
pub const WRITE_ATTEMPTS: usize = 64;

/// A version of an entity that a write starts from.
pub(crate) struct Current<E> {
    pub(crate) entity: E,
    /// All that is stored, if it was read here.
    pub(crate) stored: Option<Row>,
    pub(crate) etag: ETag,
    ticks: u64,
}

/// What is to be written, given what is there; `None` if more must be known of it than was given.
pub(crate) type Decided = Result<Option<Write>>;

impl<E: Entity, S: TableStore, O: IndexOutbox> IndexedTable<E, S, O> {
    /// Inserts an entity with what its indexes hold of it. One request, no read, where no list is kept in the partition.
    ///
    /// # Errors
    /// `EntityAlreadyExists` (INS-1); `UniqueViolation` if another entity has the value of a unique index (PAT-INTRA-5), whose
    /// source is a [`UniqueViolation`](crate::index::UniqueViolation); `IndexListFull` (PAT-IX-4). Nothing is written then.
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        let key = entity.key_of()?;
        let written = self
            .write(&key, false, None, |_| {
                Write::new(key.clone(), OperationKind::Insert(entity.to_row()?), None, Some(entity)).map(Some)
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
        let written = self
            .write(&key, true, None, |current| {
                let current = self.expected(&key, current, &if_match)?;
                let kind = OperationKind::Replace(entity.to_row()?, current.etag.into());
                Write::new(key.clone(), kind, Some(&current.entity), Some(entity)).map(Some)
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
        let written = self
            .write(&key, true, None, |current| {
                let current = self.expected(&key, current, &if_match)?;
                merged(&key, &current, entity.to_row()?).map(Some)
            })
            .await?;
        self.written(written)
    }

    /// Inserts the entity, or replaces the one of this key whatever its version (UPS-2). Reads first.
    ///
    /// # Errors
    /// Those of the indexes, as for [`insert`](Self::insert).
    pub async fn insert_or_replace(&self, entity: &E) -> Result<ETag> {
        let key = entity.key_of()?;
        let written = self
            .write(&key, true, None, |current| {
                let row = entity.to_row()?;
                let kind = match &current {
                    Some(current) => OperationKind::Replace(row, IfMatch::ETag(current.etag.clone())),
                    None => OperationKind::Insert(row),
                };
                Write::new(key.clone(), kind, current.as_ref().map(|current| &current.entity), Some(entity))
                    .map(Some)
            })
            .await?;
        self.written(written)
    }

    /// Inserts the entity, or merges it into the one of this key whatever its version (UPS-2). Reads first.
    ///
    /// # Errors
    /// Those of the indexes, as for [`insert`](Self::insert).
    pub async fn insert_or_merge(&self, entity: &E) -> Result<ETag> {
        let key = entity.key_of()?;
        let written = self
            .write(&key, true, None, |current| match current {
                Some(current) => merged(&key, &current, entity.to_row()?).map(Some),
                None => Write::new(key.clone(), OperationKind::Insert(entity.to_row()?), None, Some(entity))
                    .map(Some),
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
        key: impl WholeKey<E, From = Primary>,
        if_match: impl Into<IfMatch>,
    ) -> Result<()> {
        let (key, if_match) = (key.into_point().into_key()?, if_match.into());
        self.write(&key, true, None, |current| {
            let current = self.expected(&key, current, &if_match)?;
            let kind = OperationKind::Delete(current.etag.into());
            Write::new(key.clone(), kind, Some(&current.entity), None).map(Some)
        })
        .await?;
        Ok(())
    }

    /// Changes an entity: read, `change`, write with its indexes if nobody wrote in between, else read again and repeat
    /// (CON-3). An entity read before saves the first read.
    ///
    /// - `change` may run several times, each time on a freshly read entity; it must not change the key (UPD-6).
    /// - Properties that `E` does not know are kept; a field set to `None` is removed.
    ///
    /// # Errors
    /// `ResourceNotFound`; `InvalidInput` if `change` changed the key; `UpdateConditionNotSatisfied` after
    /// [`WRITE_ATTEMPTS`] lost races; those of the indexes, as for [`insert`](Self::insert).
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
        let etag = self
            .write(&key, true, first, |current| {
                let mut current = self.expected(&key, current, &IfMatch::Any)?;
                let before = current.entity.to_row()?;
                // The entity as it was, for its copies: `E` need not be `Clone`.
                let old = read_as::<E>(&key, &before)?;
                change(&mut current.entity)?;
                let after = current.entity.to_row()?;
                if current.entity.key_of()? != key {
                    let message = "the change altered the key of the entity: keys are fixed; insert under the new key, delete \
                                   the old";
                    return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("UPD-6"));
                }
                let if_match = IfMatch::ETag(current.etag);
                let kind = match (row::removes(before.view(), after.view())?, &current.stored) {
                    (false, _) => OperationKind::Merge(after, if_match),
                    (true, Some(stored)) => {
                        OperationKind::Replace(row::rewrite(stored.view(), before.view(), after.view())?, if_match)
                    }
                    // Only a replace removes (MRG-3): what E does not know must be sent along.
                    (true, None) => return Ok(None),
                };
                let write = Write::new(key.clone(), kind, Some(&old), Some(&current.entity))?;
                result = Some((current.entity, current.ticks));
                Ok(Some(write))
            })
            .await?;
        let (entity, ticks) = result.ok_or_else(|| self.lost(&key))?;
        let etag = self.written(etag)?;
        let ticks = etag.ticks().unwrap_or(ticks);
        Ok(Versioned::new(entity, etag, ticks))
    }

    /// What is there, if it is what a condition wants.
    pub(crate) fn expected(
        &self,
        key: &EntityKey,
        current: Option<Current<E>>,
        if_match: &IfMatch,
    ) -> Result<Current<E>> {
        let (code, rule, message) = match current {
            Some(current) if if_match.accepts(&current.etag) => return Ok(current),
            Some(_) => {
                (ErrorCode::UpdateConditionNotSatisfied, "UPD-3", "the entity is of another version by now")
            }
            None => (ErrorCode::ResourceNotFound, "UPD-2", "the entity is not there"),
        };
        Err(self.here(Error::new(code, message).with_rule(rule), key))
    }

    pub(crate) fn here(&self, error: Error, key: &EntityKey) -> Error {
        let error = error.with_key(key.partition_key.as_str(), key.row_key.as_str());
        match self.table.name() {
            Ok(table) => error.with_table(table.as_str()),
            Err(_) => error,
        }
    }

    pub(crate) fn lost(&self, key: &EntityKey) -> Error {
        let message = format!(
            "others changed the entity or its indexes during each of {WRITE_ATTEMPTS} attempts: retry later, or spread the writes"
        );
        self.here(Error::new(ErrorCode::UpdateConditionNotSatisfied, message).with_rule("CON-3"), key)
    }

    pub(crate) fn written(&self, etag: Option<ETag>) -> Result<ETag> {
        store::written(self.table.name()?, etag)
    }

    pub(crate) async fn current(&self, key: &EntityKey) -> Result<Option<Current<E>>> {
        let found = self.table.store().get(self.table.name()?, key, &Select::All).await?;
        let Some(found) = found else { return Ok(None) };
        let entity = read_as(key, &found.row).map_err(|error| self.here(error, key))?;
        let ticks = found.row.view().timestamp();
        Ok(Some(Current { entity, stored: Some(found.row), etag: found.etag, ticks }))
    }

    /// Reads, decides, writes; again where somebody was in between. `reads` is whether the decision needs what is there.
    pub(crate) async fn write(
        &self,
        key: &EntityKey,
        reads: bool,
        mut first: Option<Current<E>>,
        mut decide: impl FnMut(Option<Current<E>>) -> Decided,
    ) -> Result<Option<ETag>> {
        let (mut look, mut last) = (false, None);
        for attempts in 0..WRITE_ATTEMPTS {
            let decided = match first.take() {
                Some(first) => decide(Some(first))?,
                None => None,
            };
            let write = if let Some(write) = decided {
                write
            } else {
                let current = if reads { self.current(key).await? } else { None };
                decide(current)?.ok_or_else(|| self.lost(key))?
            };
            let batch = Batch::of::<E>(write)?;
            match self.attempt(&batch, look).await? {
                Attempt::Done(etags) => return Ok(etags.into_iter().next().flatten()),
                Attempt::Entity(error) if !reads => return Err(error),
                Attempt::Entity(error) => last = Some(error),
                Attempt::Index(error) => (look, last) = (true, Some(error)),
            }
            // The first look is at once: what failed may be no race.
            if attempts > 0 || !look {
                back_off(&self.pace, attempts).await;
            }
        }
        let given_up = self.lost(key);
        Err(match last {
            Some(last) => given_up.with_source(last),
            None => given_up,
        })
    }

    /// One attempt to write a batch. `look` says that copies are not what the entities say.
    pub(crate) async fn attempt(&self, batch: &Batch, look: bool) -> Result<Attempt> {
        let table = self.table.name()?;
        if touches(batch, |index| self.states.is_unknown::<E>(index)) {
            load(&self.table, &self.states).await?;
        }
        // What is not whole has no copy to be taken for granted.
        let look = look || touches(batch, |index| !self.states.is_ready::<E>(index));
        let intents = match &batch.remote[..] {
            [] => Vec::new(),
            remote => {
                self.outbox.prepare(table, &batch.partition_key).await?;
                self.outbox.record(E::SCHEMA, remote)?
            }
        };
        let is_recorded = !intents.is_empty();
        let done =
            attempt::<E, S>(self.table.store(), &self.lists(table), batch, Mode { look, intents }).await?;
        if is_recorded && matches!(done, Attempt::Done(_)) {
            self.outbox.recorded(table, &batch.partition_key).await;
        }
        Ok(done)
    }
}

/// An entity of these properties.
pub(crate) fn read_as<E: Entity>(key: &EntityKey, row: &Row) -> Result<E> {
    E::from_entity(EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view()))
}

/// The merge of some properties into what is there.
pub(crate) fn merged<E: Entity>(key: &EntityKey, current: &Current<E>, row: Row) -> Result<Write> {
    let before = match &current.stored {
        Some(stored) => stored.clone(),
        None => current.entity.to_row()?,
    };
    let after: E = read_as(key, &row::merge(before.view(), row.view())?)?;
    let kind = OperationKind::Merge(row, IfMatch::ETag(current.etag.clone()));
    Write::new(key.clone(), kind, Some(&current.entity), Some(&after))
}
