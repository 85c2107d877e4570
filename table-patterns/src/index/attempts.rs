//! How a write of one entity is tried: what is there is read, what is to be is decided, and both are written with the indexes in one
//! transaction; again where somebody was in between (CON-3).

use table_core::entity::Entity;
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, Select};
use table_core::row::{self, Row};
use table_core::store::{self, TableStore};

use crate::index::batch::{Batch, Write};
use crate::index::commit::{Attempt, Mode, attempt, touches};
use crate::index::outbox::IndexOutbox;
use crate::index::state::load;
use crate::index::table::IndexedTable;

/// What others may change while something is tried, in words.
pub(crate) const RACE: &str = "the entity or its indexes";

/// A version of an entity that a write starts from.
pub(crate) struct Current<E> {
    pub(crate) entity: E,
    /// All that is stored, if it was read here.
    pub(crate) stored: Option<Row>,
    pub(crate) etag: ETag,
    pub(crate) ticks: u64,
}

/// What is to be written, given what is there; `None` if more must be known of it than was given.
pub(crate) type Decided = Result<Option<Write>>;

impl<E: Entity, S: TableStore, O: IndexOutbox> IndexedTable<E, S, O> {
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
        let mut look = false;
        let mut race = self.retry.race(RACE);
        loop {
            let decided = match first.take() {
                Some(first) => decide(Some(first))?,
                None => None,
            };
            let write = if let Some(write) = decided {
                write
            } else {
                let current = if reads { self.current(key).await? } else { None };
                decide(current)?.ok_or_else(undecided)?
            };
            let batch = Batch::of::<E>(write)?;
            match self.attempt(&batch, look).await? {
                Attempt::Done(etags) => return Ok(etags.into_iter().next().flatten()),
                Attempt::Entity(error) if !reads => return Err(error),
                // The first look is at once: what failed may be no race.
                Attempt::Index(_) if !look => look = true,
                Attempt::Entity(error) | Attempt::Index(error) => {
                    race.lost(error).await.map_err(|error| self.here(error, key))?;
                }
            }
        }
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

/// What cannot be: a decision that wants to know more than all that is there.
pub(crate) fn undecided() -> Error {
    Error::new(ErrorCode::InternalError, "a write was not decided though all that is there was read")
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
