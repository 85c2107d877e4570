//! What brings indexes of other partitions and tables in line with an entity: idempotent, in any order, any number of times
//! (PAT-INTER-3, PAT-EC-2).

use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::entity::Entity;
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::index::IndexOf;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::Select;
use table_core::row::{Row, RowView};
use table_core::schema::IndexKind;
use table_core::store::{StoredRow, TableStore};
use table_core::transaction::Transaction;

use crate::index::attempts::{Current, RACE, undecided};
use crate::index::batch::violation;
use crate::index::changes::{index_of, owner_of};
use crate::index::commit::CONCURRENCY;
use crate::index::fault::IndexFault;
use crate::index::list::{ListForm, ListWrite};
use crate::index::outbox::IndexOutbox;
use crate::index::remote::{Left, RemoteChange};
use crate::index::table::Entities;
use crate::outbox::guard::{Guard, Origin};
use crate::outbox::keys::guard_key;

impl<E: Entity, S: TableStore, O: IndexOutbox> Entities<E, S, O> {
    /// Brings what an index in another partition or table holds of an entity in line with the entity as it is now; gives how
    /// many rows that took. To be called at least once for each recorded change; that it is called again does no harm.
    ///
    /// Why it converges: see `docs/convergence.md`. Where it is not known which change was later, as here, the guard of each
    /// key is read before the entity and written with the entry, so that of two that settle one key the one with the older entity in mind
    /// fails; a worker also knows the number of the change, by which an old answer of the store is recognised.
    ///
    /// # Errors
    /// `UniqueViolation` if another entity has the value, which no transaction could prevent between partitions: the change
    /// stays recorded for a person to decide (PAT-EC-4); `IndexListFull` (PAT-IX-4); those of the store.
    pub async fn settle(&self, change: &RemoteChange) -> Result<usize> {
        self.settle_recorded(change, None).await
    }

    /// The same for a change of this generation, once for each.
    pub(crate) async fn settle_recorded(
        &self,
        change: &RemoteChange,
        generation: Option<u64>,
    ) -> Result<usize> {
        let Some(index) = index_of::<E>(change.index) else { return Ok(0) };
        let table = self.table_of(change.index)?;
        let EntityKey { partition_key, row_key } = &change.owner;
        let generation = match generation {
            Some(version) => Some(Generation {
                origin: Origin::new(self.table.name()?, partition_key, row_key, version),
                version,
            }),
            None => None,
        };
        let settling = Settling { index, table: &table, owner: &change.owner, generation };
        let (mut keys, mut written, mut looks) = (change.keys.clone(), 0_usize, 0_usize);
        let mut race = self.retry.race(RACE);
        loop {
            let (known, settling) = (&keys, &settling);
            let targets = (0..keys.len()).map(|at| async move {
                match known.get(at) {
                    Some(key) => self.target(settling.table, key).await,
                    None => Err(undecided()),
                }
            });
            let found: Vec<_> = stream::iter(targets).buffered(CONCURRENCY).try_collect().await?;
            // IMPORTANT: after the guards. What is written under them is then never older than what was there when they were read.
            let current = self.current(&change.owner).await?;
            let entry = match &current {
                Some(current) => index.entry(&current.entity)?,
                None => None,
            };
            if let Some(entry) = &entry
                && settling.generation.is_none()
                && !keys.contains(&entry.key)
            {
                keys.push(entry.key.clone());
                continue;
            }
            let now = entry.as_ref().map_or(Left::Nothing, |entry| Left::entry(&entry.key, &entry.row));
            let (mut is_overtaken, mut is_behind) = (false, false);
            for (key, target) in keys.iter().zip(found) {
                match self.verdict(settling, change, key, (&target, &now, current.as_ref())).await? {
                    Verdict::Settled => continue,
                    Verdict::Behind => {
                        is_behind = true;
                        continue;
                    }
                    Verdict::Write => {}
                }
                let wanted = entry.as_ref().filter(|entry| entry.key == *key).map(|entry| &entry.row);
                let step = self.step(settling, key, wanted, target.row.as_ref()).await;
                let step = match step {
                    // The entity may have given the value up since it was read, and the other taken it: only while it stays as it
                    // was have both had it.
                    Err(error)
                        if error.code() == ErrorCode::UniqueViolation
                            && !self.is_still(&change.owner, current.as_ref()).await? =>
                    {
                        is_overtaken = true;
                        continue;
                    }
                    step => step?,
                };
                let (kind, upload) = step.map(|step| (step.kind, step.upload)).unzip();
                let (lists, upload) = (self.lists(&table), upload.flatten());
                upload.as_ref().map_or(Ok(()), |upload| lists.check_age(upload))?;
                let rows = usize::from(kind.is_some());
                match self.put(settling, key, target.guard, kind).await {
                    Ok(()) => written += rows,
                    Err(error) if error.is_conflict() => {
                        is_overtaken = true;
                        if let Some(upload) = &upload {
                            lists.discard(upload).await;
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
            if is_behind && !is_overtaken {
                looks += 1;
                if looks == LOOKS {
                    return Err(self.behind(&change.owner));
                }
            } else if !is_overtaken {
                return Ok(written);
            }
            race.lost(None).await.map_err(|error| self.here(error, &change.owner))?;
        }
    }

    /// What becomes of one key.
    ///
    /// IMPORTANT: what the entity has there is written only if the change left the same there. Else either the answer is old, or a later change
    /// made it so: that is known if the entity was written later, or the guard or a record knows of a later change of this key. Each of
    /// these is true for good, so that none of these answers can be too old.
    async fn verdict(
        &self,
        settling: &Settling<'_, E>,
        change: &RemoteChange,
        key: &EntityKey,
        (target, now, current): (&Target, &Left, Option<&Current<E>>),
    ) -> Result<Verdict> {
        let Some(generation) = &settling.generation else { return Ok(Verdict::Write) };
        if target.guard.as_ref().is_some_and(|(guard, _)| guard.knows(&generation.origin)) {
            return Ok(Verdict::Settled);
        }
        if change.left == Left::Unknown || change.left.agrees(now, key) {
            return Ok(Verdict::Write);
        }
        let is_later = current.is_some_and(|current| current.ticks > generation.version);
        let is_known = is_later || self.is_recorded_later(change, key, generation.version).await?;
        Ok(if is_known { Verdict::Settled } else { Verdict::Behind })
    }

    fn behind(&self, owner: &EntityKey) -> Error {
        self.here(Error::of(IndexFault::Behind), owner)
    }

    /// What is at a key of an index elsewhere. The guard is read first: whatever changes the entry afterwards changes the guard.
    async fn target(&self, table: &TableName, key: &EntityKey) -> Result<Target> {
        let store = self.table.store();
        let found = store.get(table, &guard_key(key)?, &Select::All).await?;
        let row = store.get(table, key, &Select::All).await?;
        let guard = match found {
            Some(found) => Some((Guard::read(found.row.view())?, found.etag)),
            None => None,
        };
        Ok(Target { guard, row })
    }

    async fn is_still(&self, owner: &EntityKey, then: Option<&Current<E>>) -> Result<bool> {
        let now = self.table.store().get(self.table.name()?, owner, &Select::All).await?;
        Ok(now.map(|now| now.etag) == then.map(|then| then.etag.clone()))
    }

    /// The write that makes what is at a key what it should be; `None` if it is.
    async fn step(
        &self,
        settling: &Settling<'_, E>,
        key: &EntityKey,
        wanted: Option<&Row>,
        found: Option<&StoredRow>,
    ) -> Result<Option<ListWrite>> {
        let Settling { index, table, owner, .. } = *settling;
        if index.schema().kind == IndexKind::List {
            let place = |error: Error| {
                error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
            };
            return self.list_step(index, table, key, owner, wanted, found).await.map_err(place);
        }
        let kind = self.copy_step(index, key, owner, wanted, found).await?;
        Ok(kind.map(|kind| ListWrite { kind, upload: None }))
    }

    async fn copy_step(
        &self,
        index: &IndexOf<E>,
        key: &EntityKey,
        owner: &EntityKey,
        wanted: Option<&Row>,
        found: Option<&StoredRow>,
    ) -> Result<Option<OperationKind>> {
        let Some(found) = found else { return Ok(wanted.map(|row| OperationKind::Insert(row.clone()))) };
        let if_match = IfMatch::ETag(found.etag.clone());
        let holder = owner_of::<E>(index.schema(), key, &found.row);
        let is_ours = holder.as_ref() == Some(owner);
        Ok(match wanted {
            Some(row) if is_ours && has_same(found.row.view(), row.view())? => None,
            Some(row) if is_ours => Some(OperationKind::Replace(row.clone(), if_match)),
            Some(row) => {
                if let Some(holder) = holder
                    && self.has_entry(index, &holder, key).await?
                {
                    return Err(violation(index.schema(), key, &holder));
                }
                // What its owner left behind, and would remove in its time.
                Some(OperationKind::Replace(row.clone(), if_match))
            }
            None if is_ours => Some(OperationKind::Delete(if_match)),
            None => None,
        })
    }

    async fn list_step(
        &self,
        index: &IndexOf<E>,
        table: &TableName,
        key: &EntityKey,
        owner: &EntityKey,
        wanted: Option<&Row>,
        found: Option<&StoredRow>,
    ) -> Result<Option<ListWrite>> {
        let form = ListForm::new(E::SCHEMA, index.schema());
        let lists = self.lists(table);
        let before = lists.read::<E>(&form, key, found.map(|found| &found.row)).await?;
        let mut after = before.clone();
        match wanted {
            Some(row) => after.join(owner.clone(), form.member(row)?),
            None => after.leave(owner),
        }
        if after == before {
            return Ok(None);
        }
        lists.write(&form, key, found, &before, &after).await
    }

    /// Whether an entity has its entry at this key now.
    pub(crate) async fn has_entry(
        &self,
        index: &IndexOf<E>,
        owner: &EntityKey,
        key: &EntityKey,
    ) -> Result<bool> {
        match self.current(owner).await? {
            Some(current) => Ok(index.entry(&current.entity)?.is_some_and(|entry| entry.key == *key)),
            None => Ok(false),
        }
    }

    /// Writes an entry under its guard; the guard alone where the entry is right.
    async fn put(
        &self,
        settling: &Settling<'_, E>,
        key: &EntityKey,
        guard: Option<(Guard, ETag)>,
        kind: Option<OperationKind>,
    ) -> Result<()> {
        let store = self.table.store();
        let mut transaction = Transaction::new(key.partition_key.clone(), store.capabilities().limits)?;
        let (mut known, etag) = guard.map_or_else(Default::default, |(guard, etag)| (guard, Some(etag)));
        if let Some(generation) = &settling.generation {
            known.learn(&generation.origin);
        }
        let guards = match etag {
            Some(etag) => OperationKind::Replace(known.write(), IfMatch::ETag(etag)),
            None => OperationKind::Insert(known.write()),
        };
        transaction.push(Operation { row_key: guard_key(key)?.row_key, kind: guards })?;
        if let Some(kind) = kind {
            transaction.push(Operation { row_key: key.row_key.clone(), kind })?;
        }
        store.submit(settling.table, transaction).await.map(drop)
    }
}

/// Answers that are older than the change before a settling gives up and comes again.
const LOOKS: usize = 3;

/// What is being brought in line.
struct Settling<'a, E: Entity> {
    index: &'static IndexOf<E>,
    table: &'a TableName,
    owner: &'a EntityKey,
    generation: Option<Generation>,
}

/// Which change of the entity is settled: later ones have larger versions.
struct Generation {
    origin: Origin,
    version: u64,
}

/// What becomes of a key.
enum Verdict {
    /// The entry is written, with its guard.
    Write,
    /// This change or a later one has been there, or a later one will be.
    Settled,
    /// The answer is too old.
    Behind,
}

/// What is at a key of an index elsewhere.
struct Target {
    guard: Option<(Guard, ETag)>,
    row: Option<StoredRow>,
}

/// Whether two rows have the same properties, in whatever order.
pub(crate) fn has_same(one: RowView<'_>, other: RowView<'_>) -> Result<bool> {
    if one.len() != other.len() {
        return Ok(false);
    }
    let mut hint = 0;
    for property in one.properties() {
        let property = property?;
        if other.find(property.name, &mut hint)? != Some(property.value) {
            return Ok(false);
        }
    }
    Ok(true)
}
