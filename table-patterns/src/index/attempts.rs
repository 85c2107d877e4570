//! How a write of one entity is tried: what is there is read, what is to be is decided, and both are written with the indexes in one
//! transaction; again where another writer was in between (CON-3).

use std::sync::Arc;

use table_core::entity::Entity;
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, Select};
use table_core::retry::RetryLoop;
use table_core::row::Row;
use table_core::store::{self, TableStore};

use crate::index::batch::{Batch, Write};
use crate::index::commit::{Attempt, touches};
use crate::index::fault::IndexFault;
use crate::index::kept::Asked;
use crate::index::outbox::IndexOutbox;
use crate::index::road::{Road, Way};
use crate::index::state::load;
use crate::index::table::Entities;

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

/// The version of an entity that was written, and the properties that it has by its copies.
pub(crate) type Written = (Option<ETag>, Option<Row>);

/// What is to be written, given what is there; `None` if more must be known of it than was given.
pub(crate) type Decided = Result<Option<Write>>;

impl<E: Entity, S: TableStore, O: IndexOutbox> Entities<E, S, O> {
    /// What is there, if it is what a condition wants.
    pub(crate) fn expected(
        &self,
        key: &EntityKey,
        current: Option<Current<E>>,
        if_match: &IfMatch,
    ) -> Result<Current<E>> {
        let fault = match current {
            Some(current) if if_match.accepts(&current.etag) => return Ok(current),
            Some(_) => IndexFault::Changed,
            None => IndexFault::NotFound,
        };
        Err(self.here(Error::of(fault), key))
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

    /// Reads, decides, writes; again where another writer was in between. `reads` is whether the decision needs what is there.
    pub(crate) async fn write(
        &self,
        key: &EntityKey,
        reads: bool,
        first: Option<Current<E>>,
        decide: impl FnMut(Option<Current<E>>) -> Decided,
    ) -> Result<Option<ETag>> {
        self.write_kept(key, reads, first, decide).await.map(|(etag, _)| etag)
    }

    /// The same, with the properties that the entity has by its copies.
    pub(crate) async fn write_kept(
        &self,
        key: &EntityKey,
        reads: bool,
        first: Option<Current<E>>,
        mut decide: impl FnMut(Option<Current<E>>) -> Decided,
    ) -> Result<Written> {
        // Copies are kept of all that is stored.
        let mut first = first.filter(|_| !self.keeps_copies());
        let mut attempts = Attempts {
            handle: self,
            key,
            reads,
            stored: None,
            together: true,
            look: false,
            race: self.retry.race(RACE),
        };
        loop {
            let decided = match first.take() {
                Some(first) => decide(Some(first))?,
                None => None,
            };
            let write = match decided {
                Some(write) => write,
                None => decide(attempts.read().await?)?.ok_or_else(undecided)?,
            };
            if let Some(written) = attempts.write(write).await? {
                return Ok(written);
            }
        }
    }

    /// The batch of a write, with what its copies add, and the properties that the entity has by them.
    async fn kept(
        &self,
        write: Write,
        stored: Option<Row>,
        together: &mut bool,
    ) -> Result<(Batch, Option<Row>)> {
        let Some(keeper) = &self.keeper else { return Ok((Batch::of::<E>(write)?, None)) };
        let Write { key, kind, .. } = write;
        loop {
            let (key, kind, stored) = (key.clone(), kind.clone(), stored.clone());
            let asked = Asked { key: key.clone(), kind, stored, together: *together, unit: Arc::default() };
            let mut kept = keeper.keep(self, asked).await?;
            let (row, is_alone) = (kept.row.take(), kept.others.is_empty());
            let mut batch = Batch::new(key.partition_key);
            kept.push::<E>(&mut batch)?;
            if is_alone || batch.operations() <= self.table.store().capabilities().limits.operations {
                return Ok((batch, row));
            }
            *together = false;
        }
    }

    pub(crate) fn in_table(&self, error: Error) -> Error {
        match (error.table(), self.table.name()) {
            (None, Ok(table)) => error.with_table(table.as_str()),
            _ => error,
        }
    }

    /// One attempt to write a batch. `look` says that copies are not what the entities say.
    pub(crate) async fn attempt(&self, batch: &Batch, look: bool) -> Result<Attempt> {
        let table = self.table.name()?;
        self.admit(false).await?;
        if touches(batch, |index| self.states.is_unknown::<E>(index)) {
            load(&self.table, &self.states).await?;
        }
        // What is not whole has no copy to be taken for granted.
        let look = look || touches(batch, |index| !self.states.is_ready::<E>(index));
        self.way(table).attempt(batch, look).await
    }

    /// Whether a program of a newer design lets this one replace rows as a whole.
    pub(crate) async fn admit_whole(&self) -> Result<()> {
        self.admit(true).await
    }

    /// Whether a program of a newer design lets this one write.
    pub(crate) async fn admit(&self, is_whole: bool) -> Result<()> {
        self.table.admit(self.retry.runtime().now()).await?;
        if is_whole { self.table.admit_whole() } else { Ok(()) }
    }

    /// Writes a batch whose conditions on entities are the caller's.
    pub(crate) async fn commit(&self, batch: &Batch) -> Result<Vec<Option<ETag>>> {
        let table = self.table.name()?;
        self.admit(false).await?;
        if touches(batch, |index| self.states.is_unknown::<E>(index)) {
            load(&self.table, &self.states).await?;
        }
        let look = touches(batch, |index| !self.states.is_ready::<E>(index));
        self.way(table).commit(batch, (&self.retry, look)).await
    }

    /// Writes entities of types that may be others, with what their structs declare. A conflict is an error, as all rows were read.
    pub(crate) async fn commit_others(&self, table: &TableName, batch: &Batch) -> Result<Vec<Option<ETag>>> {
        self.admit(false).await?;
        self.way(table).commit(batch, (&self.retry, !batch.copies.is_empty())).await
    }

    fn way<'a>(&'a self, table: &'a TableName) -> Way<'a, S, O> {
        let (store, outbox) = (self.table.store(), &self.outbox);
        Way { store, outbox, feed: &self.feed, lists: self.lists(table) }
    }

    /// What the handle knows, for units of several types.
    pub(crate) fn road(&self) -> Road<S, O>
    where
        S: Clone,
    {
        Road {
            store: self.table.store().clone(),
            outbox: self.outbox.clone(),
            feed: self.feed.clone(),
            blobs: self.blobs.clone(),
            retry: self.retry.clone(),
        }
    }

    /// Writes without a look at what is there, where nothing asks for it.
    pub(crate) async fn write_blind(&self, key: EntityKey, kind: OperationKind) -> Result<Option<ETag>> {
        let write = self.write_of(key.clone(), kind, None, None)?;
        self.write(&key, false, None, |_| Ok(Some(write.clone()))).await
    }
}

/// The attempts of one write. Apart from what decides, for each of which all of it would be compiled once more.
struct Attempts<'a, E: 'static, S, O> {
    handle: &'a Entities<E, S, O>,
    key: &'a EntityKey,
    /// Whether the decision needs what is there.
    reads: bool,
    /// All that was stored, for copies.
    stored: Option<Row>,
    /// Whether other entities are written in the same transaction.
    together: bool,
    /// Whether copies are looked at.
    look: bool,
    race: RetryLoop<'a>,
}

impl<E: Entity, S: TableStore, O: IndexOutbox> Attempts<'_, E, S, O> {
    /// What is there, if the decision needs it.
    async fn read(&mut self) -> Result<Option<Current<E>>> {
        let current = if self.reads { self.handle.current(self.key).await? } else { None };
        let keeps = self.handle.keeps_copies();
        self.stored = current.as_ref().filter(|_| keeps).and_then(|current| current.stored.clone());
        Ok(current)
    }

    /// Writes what was decided, with the indexes; `None` if that is to be decided again.
    async fn write(&mut self, write: Write) -> Result<Option<Written>> {
        let (batch, kept) = self.handle.kept(write, self.stored.take(), &mut self.together).await?;
        let (keeps, others) = (self.handle.keeps_copies(), batch.entities.len() > 1);
        // Which of the indexes are whole is known of one type alone: copies of others are looked at.
        let attempt = match self.handle.attempt(&batch, self.look || others).await {
            // What was read for copies has changed since.
            Err(error) if keeps && error.is_conflict() => Attempt::Index(error),
            Err(error) if others && is_too_much(&error) => {
                self.together = false;
                return Ok(None);
            }
            attempt => attempt?,
        };
        match attempt {
            Attempt::Done(etags) => return Ok(Some((etags.into_iter().next().flatten(), kept))),
            Attempt::Entity(error) if !self.reads => return Err(error),
            // The first look is at once: what failed may be no race.
            Attempt::Index(_) if !self.look && !keeps => self.look = true,
            Attempt::Entity(error) | Attempt::Index(error) => {
                self.look |= keeps;
                let lost = self.race.lost(error).await;
                lost.map_err(|error| self.handle.here(error, self.key))?;
            }
        }
        Ok(None)
    }
}

/// The error of a decision that asks for more although all that is there was read.
pub(crate) fn undecided() -> Error {
    Error::of(IndexFault::Undecided)
}

/// What was read for copies changed before all of it was.
pub(crate) fn is_moved(error: &Error) -> bool {
    error.code() == ErrorCode::UpdateConditionNotSatisfied
}

/// There is more to write than one transaction takes.
pub(crate) fn is_too_much(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::InvalidInput | ErrorCode::RequestBodyTooLarge)
}

/// An entity of these properties.
pub(crate) fn read_as<E: Entity>(key: &EntityKey, row: &Row) -> Result<E> {
    E::from_entity(EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view()))
}
