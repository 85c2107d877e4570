//! Holders: entities with copies of others among their properties (PAT-DEN-1).

use std::collections::BTreeMap;
use std::fmt;

use table_core::Table;
use table_core::entity::{Entity, Versioned};
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{EntityRef, Select};
use table_core::queue::QueueStore;
use table_core::retry::Retry;
use table_core::row::rewrite;
use table_core::selection::{Point, Selection};
use table_core::store::{StoredRow, TableStore};

use crate::denormal::fault::CopyFault;
use crate::denormal::reference::Reference;
use crate::denormal::relation::Incoming;
use crate::denormal::steps::{Left, holder_step};
use crate::denormal::{Denormal, io};
use crate::index::{Batch, Beside, Entities};
use crate::outbox::{Outbox, Step};

/// A table of holders `H`: what that is, see [the pattern](crate::denormal). All relations into `H` are to be registered.
pub struct HolderTable<H, S, Q> {
    pub(super) entities: Entities<H, S, Outbox<S, Q>>,
    pub(super) relations: Vec<Incoming<H>>,
}

impl<H: Entity, S, Q> HolderTable<H, S, Q> {
    /// The holders of a handle; of an outbox, those in the table that the design of `H` names, in its store.
    #[must_use]
    pub fn new(entities: impl Into<Entities<H, S, Outbox<S, Q>>>) -> Self {
        Self { entities: entities.into(), relations: Vec::new() }
    }

    /// Registers a relation.
    #[must_use]
    pub fn copies<D: Denormal<Holder = H>>(mut self) -> Self {
        self.entities.keeps_copies = true;
        self.relations.push(Incoming::of::<D>());
        self
    }

    /// The same with another back-off for changes that lose races.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { entities: self.entities.with_retry(retry), ..self }
    }

    /// The table, for reads: one point query answers with the copies.
    #[must_use]
    pub const fn table(&self) -> &Table<H, S> {
        self.entities.table()
    }
}

/// What an attempt came to.
enum Attempt<H> {
    Done(Option<Versioned<H>>),
    /// Another writer got between; nothing of the holder was written.
    Lost(Error),
}

impl<H: Entity, S: TableStore, Q: QueueStore> HolderTable<H, S, Q> {
    /// Inserts a holder with the copies of what it refers to, whatever its own say.
    ///
    /// # Errors
    /// `EntityAlreadyExists`; `ResourceNotFound` (PAT-DEN-2), naming the source, if it refers to one that is not there; `InvalidInput` if it refers
    /// to itself; `UpdateConditionNotSatisfied` if its sources changed during all attempts; those of the store.
    pub async fn insert(&self, holder: &H) -> Result<Versioned<H>> {
        let (table, key, row) = (self.table().name()?, holder.key_of()?, holder.to_row()?);
        let mut race = self.entities.retry.race(io::RACE);
        loop {
            let copy = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
            match self.attempt(table, &key, None, Some(H::from_entity(copy)?)).await? {
                Attempt::Done(Some(written)) => return Ok(written),
                Attempt::Lost(error) if error.code() == ErrorCode::EntityAlreadyExists => return Err(error),
                Attempt::Lost(error) => race.lost(error).await?,
                Attempt::Done(None) => race.lost(None).await?,
            }
        }
    }

    /// Changes a holder, and its copies with its references. Read and tried again where another was faster.
    ///
    /// # Errors
    /// `ResourceNotFound` if the holder is not there, or a source that it takes up; `InvalidInput` if `change` altered the key (UPD-6);
    /// otherwise those of [`insert`](Self::insert).
    pub async fn update(
        &self,
        key: Selection<H, Point>,
        mut change: impl FnMut(&mut H),
    ) -> Result<Versioned<H>> {
        let key = key.into_key()?;
        let change = |mut holder: H| {
            change(&mut holder);
            Some(holder)
        };
        match self.change(&key, change).await? {
            Some(written) => Ok(written),
            None => Err(io::is_gone(self.table().name()?, &key)),
        }
    }

    /// Deletes a holder, and its references with it.
    ///
    /// # Errors
    /// `ResourceNotFound` if it is not there; those of the store.
    pub async fn delete(&self, key: Selection<H, Point>) -> Result<()> {
        self.change(&key.into_key()?, |_| None).await.map(drop)
    }

    async fn change(
        &self,
        key: &EntityKey,
        mut change: impl FnMut(H) -> Option<H>,
    ) -> Result<Option<Versioned<H>>> {
        let (store, table) = (self.table().store(), self.table().name()?);
        let mut race = self.entities.retry.race(io::RACE);
        loop {
            let found = store.get(table, key, &Select::All).await?;
            let stored = found.ok_or_else(|| io::is_gone(table, key))?;
            let read =
                || H::from_entity(io::entity(key, &stored)).map_err(|error| error.with_table(table.as_str()));
            let before = read()?;
            match self.attempt(table, key, Some((&stored, &before)), change(read()?)).await? {
                Attempt::Done(written) => return Ok(written),
                Attempt::Lost(error) => race.lost(error).await?,
            }
        }
    }

    async fn attempt(
        &self,
        table: &TableName,
        key: &EntityKey,
        before: Option<(&StoredRow, &H)>,
        mut after: Option<H>,
    ) -> Result<Attempt<H>> {
        // Before a reference is written in another partition.
        self.entities.admit(false).await?;
        let store = self.table().store();
        if let Some(after) = &after
            && after.key_of()? != *key
        {
            return Err(io::in_place(Error::of(CopyFault::HolderKey), table, key));
        }
        let (mut beside, mut sources) = (Vec::new(), BTreeMap::new());
        let (mut left, mut follow) = (Left::default(), false);
        for relation in &self.relations {
            let source_table = relation.source_table()?;
            let is_here =
                |source: &EntityKey| source.partition_key == key.partition_key && source_table == *table;
            let old = before.map(|(_, before)| (relation.reference)(before)).transpose()?.flatten();
            let mut new = after.as_ref().map(|after| (relation.reference)(after)).transpose()?.flatten();
            let link = Reference {
                relation: relation.name.to_owned(),
                holder_table: table.clone(),
                holder: key.clone(),
            };
            if let (Some(source), Some(after)) = (new.clone(), after.as_mut()) {
                let is_new = old.as_ref() != Some(&source);
                if is_here(&source) && source.row_key == key.row_key {
                    return Err(io::in_place(Error::of(CopyFault::OwnSource), table, key));
                }
                let link_key = link.key(&source)?;
                if is_new && !is_here(&source) {
                    self.refer(&source_table, &source, &link).await?;
                    follow = true;
                }
                match store.get(&source_table, &source, &Select::All).await? {
                    Some(stored) => {
                        (relation.set)(after, io::entity(&source, &stored))?;
                        if is_new && is_here(&source) {
                            beside.push((link_key.row_key, OperationKind::InsertOrReplace(link.row())));
                            sources.insert(source.row_key, stored.etag);
                        }
                    }
                    None if is_new => return Err(no_source(&source_table, &source)),
                    // Deleted, and the holder not yet cleared by the worker.
                    None => {
                        (relation.clear)(after)?;
                        new = None;
                    }
                }
            }
            if let Some(source) = old
                && new.as_ref() != Some(&source)
            {
                if is_here(&source) {
                    let link_key = link.key(&source)?;
                    let found = store.get(table, &link_key, &Select::names(["PartitionKey"])).await?;
                    let delete = |found: StoredRow| OperationKind::Delete(IfMatch::ETag(found.etag));
                    beside.extend(found.map(|found| (link_key.row_key, delete(found))));
                } else {
                    left.0.push((relation.name.to_owned(), source));
                    follow = true;
                }
            }
        }
        // The version of a source in the partition is a condition: what was copied is what it says when this is written.
        beside.extend(sources.into_iter().map(|(row, etag)| (row, io::touch(IfMatch::ETag(etag)))));
        let own = match (before, &after) {
            (None, None) => return Ok(Attempt::Done(None)),
            (None, Some(after)) => OperationKind::Insert(after.to_row()?),
            (Some((stored, _)), None) => OperationKind::Delete(IfMatch::ETag(stored.etag.clone())),
            (Some((stored, before)), Some(after)) => {
                let row = rewrite(stored.row.view(), before.to_row()?.view(), after.to_row()?.view())?;
                OperationKind::Replace(row, IfMatch::ETag(stored.etag.clone()))
            }
        };
        let before_value = before.map(|(_, before)| before);
        let mut write = self.entities.write_of(key.clone(), own, before_value, after.as_ref())?;
        let beside = beside.into_iter().map(|(row_key, kind)| Operation { row_key, kind });
        write.beside.extend(beside.map(|operation| Beside { by: "references", operation }));
        write.steps.extend(follow.then(|| Step::of_pattern(holder_step::<H>(), left.to_text())));
        match io::commit(&self.entities, table, &Batch::of::<H>(write)?, false).await {
            Ok(etags) => {
                let stamp = before.map_or(0, |(stored, _)| stored.row.view().timestamp());
                Ok(Attempt::Done(after.map(|after| io::version(table, after, etags, stamp)).transpose()?))
            }
            Err(error) if error.is_conflict() => Ok(Attempt::Lost(io::in_place(error, table, key))),
            Err(error) => Err(error),
        }
    }

    /// Adds a reference in another partition, before the holder has it: while the source is there, and writing it, so that a
    /// change of it that has not seen the reference fails.
    pub(super) async fn refer(
        &self,
        source_table: &TableName,
        source: &EntityKey,
        link: &Reference,
    ) -> Result<()> {
        let operations = [
            (source.row_key.clone(), io::touch(IfMatch::Any)),
            (link.key(source)?.row_key, OperationKind::InsertOrReplace(link.row())),
        ];
        match io::submit(self.table().store(), source_table, &source.partition_key, operations).await {
            Err(error) if error.code() == ErrorCode::ResourceNotFound => Err(no_source(source_table, source)),
            outcome => outcome.map(drop),
        }
    }
}

fn no_source(table: &TableName, source: &EntityKey) -> Error {
    io::in_place(Error::of(CopyFault::NoSource), table, source)
}

impl<H, S: Clone, Q> Clone for HolderTable<H, S, Q> {
    fn clone(&self) -> Self {
        Self { entities: self.entities.clone(), relations: self.relations.clone() }
    }
}

impl<H, S: fmt::Debug, Q> fmt::Debug for HolderTable<H, S, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.relations.iter().map(|relation| relation.name).collect();
        f.debug_struct("HolderTable")
            .field("table", &self.entities.table)
            .field("relations", &names)
            .finish_non_exhaustive()
    }
}
