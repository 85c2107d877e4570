//! One attempt to commit a batch.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::etag::ETag;
use table_core::key::{EntityKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::Select;
use table_core::store::{Committed, StoredRow, TableStore, WriteLease};
use table_core::table::submit_admitted;
use table_core::transaction::Transaction;
use table_core::{Error, Result};

use crate::entities::admission::AdmitWrites;
use crate::entities::batch::{Batch, ContributedWrite};
use crate::entities::outbox::StepRecorder;
use crate::entities::plan::{Author, REFERENCES, ReadRow, RowPlace, UndoWrite, sent};
use crate::entities::record::Recorded;
use crate::entities::seen_versions::{SeenPartitions, SeenRows, SentRow};
use crate::requests::{self, CONCURRENCY};

/// The table to which a batch is committed, and the outbox that records its steps.
pub(crate) struct Site<'a, S, O> {
    pub(crate) store: &'a S,
    pub(crate) outbox: &'a O,
    pub(crate) table: &'a TableName,
    /// The row versions last seen by this process's transactions. A commit updates them.
    pub(crate) seen: &'a SeenPartitions,
    /// Checks before each attempt that the program may still write the batch's entity types.
    pub(crate) admission: &'a dyn AdmitWrites,
}

/// The known state of a derived row. It determines the operation on the row.
enum DerivedState {
    /// The row has not been read. It is assumed to match the entities, and this operation was computed on that assumption.
    Assumed(OperationKind),
    /// The row has been read. `None` if the row does not exist.
    Read(Option<StoredRow>),
}

/// The outcome of an attempt that either succeeded or had a conflict.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The transaction was committed. Contains the new version of each entity, in batch order.
    Committed(Vec<Option<ETag>>),
    /// A row differed from the batch's assumptions. Nothing was written.
    Conflict(Conflict, Error),
}

impl Outcome {
    /// Returns the entities' new versions, or the conflict's error.
    ///
    /// # Errors
    /// The conflict's error, if the attempt ended with a conflict.
    pub(crate) fn committed(self) -> Result<Vec<Option<ETag>>> {
        match self {
            Self::Committed(etags) => Ok(etags),
            Self::Conflict(_, error) => Err(error),
        }
    }
}

/// The kind of row that caused a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// An entity did not satisfy its condition.
    Entity,
    /// A derived row did not match the entities, or changed after it was read.
    Derived,
    /// A contributed row with a fixed operation did not satisfy the operation's condition.
    Fixed,
    /// A related entity changed after it was read. A related entity is one whose properties are copied, or one that holds copies.
    Related,
    /// Another writer recorded its changes first, for example in the partition's feed.
    Record,
}

impl Conflict {
    /// Returns `true` if only a concurrent writer can cause this conflict. The same writes can then succeed after the row has been reread.
    pub(crate) const fn is_race(self) -> bool {
        matches!(self, Self::Derived | Self::Related | Self::Record)
    }

    /// Returns `true` if a planned write caused the conflict, and `false` if the completion added that write. The entities of `completed` must begin with the
    /// entities of `planned`.
    pub(crate) fn is_in(self, planned: &Batch, completed: &Batch, error: &Error) -> bool {
        match self {
            Self::Entity => error.operation().is_none_or(|at| at < planned.entities().len()),
            Self::Fixed => error.key().and_then(|(_, row)| RowKey::new(row).ok()).is_some_and(|row_key| {
                let row = completed.rows().get(&row_key);
                planned.rows().contains_key(&row_key)
                    || row.is_some_and(|row| row.by != Author::Pattern(REFERENCES))
            }),
            Self::Derived | Self::Related | Self::Record => true,
        }
    }
}

impl<S: TableStore, O: StepRecorder> Site<'_, S, O> {
    /// Makes one attempt to commit a batch. If `look` is `true`, first reads the derived rows.
    ///
    /// The future is boxed so this code is compiled only once. Its callers are compiled for each entity type.
    pub(crate) fn attempt<'a>(&'a self, batch: &'a Batch, look: bool) -> BoxFuture<'a, Result<Outcome>> {
        self.attempt_once(batch, look).boxed()
    }

    async fn attempt_once(&self, batch: &Batch, look: bool) -> Result<Outcome> {
        self.admission.admit_writes(batch.is_whole()).await?;
        let partition_key = batch.partition_key();
        let intents = self.recorded_intents(batch).await?;
        let is_recorded = !intents.is_empty();
        let mut undo = Vec::new();
        let (is_sent, is_record_lost) = (AtomicBool::new(false), AtomicBool::new(false));
        let outcome = match self.prepare(batch, look, intents, &mut undo).await {
            Ok(transaction) => {
                let rows = SeenRows::rows(transaction.operations());
                // A batch with uploads depends on stored rows, so it never replaces an entity unconditionally and has no write lease. It can therefore be sent
                // directly.
                let submit = |transaction| {
                    is_sent.store(true, Ordering::Relaxed);
                    self.send(batch, transaction, &is_record_lost)
                };
                match submit_admitted(transaction, || self.admit(batch, &undo), submit).await {
                    Err(error) if !is_sent.load(Ordering::Relaxed) => {
                        Err(error.with_table(self.table.as_str()))
                    }
                    Err(error) if is_record_lost.load(Ordering::Relaxed) => {
                        Ok(Outcome::Conflict(Conflict::Record, error))
                    }
                    sent => self.outcome(batch, &rows, sent),
                }
            }
            Err(error) => Err(error.with_table(self.table.as_str())),
        };
        if !is_sent.into_inner() || matches!(outcome, Ok(Outcome::Conflict(..))) {
            // If the transaction was not sent or had a conflict, no row refers to the uploads. After any other error, the transaction may have been applied, so
            // the uploads are left to the collector.
            for work in undo {
                work.undo().await;
            }
        }
        if is_recorded && matches!(outcome, Ok(Outcome::Committed(_))) {
            self.outbox.recorded(self.table, partition_key).await;
        }
        outcome
    }

    /// Builds the transaction from the batch and the stored rows.
    async fn prepare(
        &self,
        batch: &Batch,
        look: bool,
        intents: Vec<Operation>,
        undo: &mut Vec<Arc<dyn UndoWrite>>,
    ) -> Result<Transaction> {
        let capabilities = self.store.capabilities();
        let limits = capabilities.limits;
        let found = self.read_derived(batch, look).await?;
        let mut transaction = Transaction::new(batch.partition_key().clone(), limits)?;
        for Operation { row_key, kind } in batch.entities().iter().cloned() {
            transaction.push(Operation { row_key, kind: sent(kind, capabilities)? })?;
        }
        for (row_key, row) in batch.rows() {
            let kind = match &row.write {
                ContributedWrite::Fixed(kind) => Some(kind.clone()),
                ContributedWrite::Derived(parts) => {
                    let Some(first) = parts.first() else { continue };
                    match found.get(row_key) {
                        None => continue,
                        Some(DerivedState::Assumed(kind)) => Some(kind.clone()),
                        Some(DerivedState::Read(stored)) => {
                            let key = EntityKey {
                                partition_key: batch.partition_key().clone(),
                                row_key: row_key.clone(),
                            };
                            let place = RowPlace { table: self.table, key: &key, limits, rows: self };
                            let prepared = first.prepare(place, parts, stored.as_ref()).await;
                            let prepared = prepared.map_err(|error| match error.key() {
                                Some(_) => error,
                                None => error.with_key(key.partition_key.as_str(), key.row_key.as_str()),
                            });
                            let prepared = prepared.map_err(|error| at_entity(batch, row_key, error))?;
                            prepared.map(|prepared| {
                                undo.extend(prepared.undo);
                                prepared.kind
                            })
                        }
                    }
                }
            };
            if let Some(kind) = kind {
                transaction.push(Operation { row_key: row_key.clone(), kind: sent(kind, capabilities)? })?;
            }
        }
        for intent in intents {
            transaction.push(intent)?;
        }
        let is_alone = transaction.operations().len() == 1 && batch.records().is_none();
        Ok(if batch.is_identified() && is_alone { transaction.identified() } else { transaction })
    }

    /// Checks the admission again after the reads and uploads. They may have taken so long that the earlier check is outdated.
    async fn admit(&self, batch: &Batch, undo: &[Arc<dyn UndoWrite>]) -> Result<Option<WriteLease>> {
        let lease = self.admission.admit_writes(batch.is_whole()).await?;
        undo.iter().try_for_each(|work| work.check())?;
        Ok(lease.filter(|_| batch.entities().iter().any(|entity| entity.kind.replaces_unconditionally())))
    }

    /// Returns the states of the derived rows. Reads each row whose operation cannot be computed from the batch alone.
    async fn read_derived(&self, batch: &Batch, look: bool) -> Result<HashMap<RowKey, DerivedState>> {
        let (mut states, mut keys) = (HashMap::new(), Vec::new());
        for (row_key, row) in batch.rows() {
            let ContributedWrite::Derived(parts) = &row.write else { continue };
            match parts.first().filter(|_| !look).and_then(|first| first.assumed(parts)) {
                Some(kind) => drop(states.insert(row_key.clone(), DerivedState::Assumed(kind))),
                None => keys.push(row_key.clone()),
            }
        }
        let reads = keys.into_iter().map(|row_key| async {
            let key = EntityKey { partition_key: batch.partition_key().clone(), row_key };
            let found = self.store.get(self.table, &key, &Select::All).await?;
            Ok::<_, Error>((key.row_key, DerivedState::Read(found)))
        });
        states.extend(requests::in_order(reads, CONCURRENCY).await?);
        Ok(states)
    }

    /// Returns a batch's operations and the number of its intents, without reading any row. Returns `None` if a derived row must be read.
    ///
    /// # Errors
    /// Any error from the outbox.
    pub(crate) async fn assume(&self, batch: &Batch) -> Result<Option<(Vec<Operation>, usize)>> {
        let mut operations = batch.entities().to_vec();
        for (row_key, row) in batch.rows() {
            let kind = match &row.write {
                ContributedWrite::Fixed(kind) => kind.clone(),
                ContributedWrite::Derived(parts) => {
                    match parts.first().and_then(|first| first.assumed(parts)) {
                        Some(kind) => kind,
                        None => return Ok(None),
                    }
                }
            };
            operations.push(Operation { row_key: row_key.clone(), kind });
        }
        let intents = self.recorded_intents(batch).await?;
        let recorded = intents.len();
        operations.extend(intents);
        Ok(Some((operations, recorded)))
    }

    /// Returns the sealed operations that record a batch's intents. If there are any intents, first registers the partition for sweeps.
    async fn recorded_intents(&self, batch: &Batch) -> Result<Vec<Operation>> {
        let intents = self.outbox.intents(&batch.intents())?;
        if intents.is_empty() {
            return Ok(intents);
        }
        self.outbox.prepare(self.table, batch.partition_key()).await?;
        self.outbox.seal(self.table, batch.partition_key(), intents).await
    }

    /// Submits a transaction together with the batch's change records. Sets `is_record_lost` if another writer recorded its changes first.
    async fn send(
        &self,
        batch: &Batch,
        transaction: Transaction,
        is_record_lost: &AtomicBool,
    ) -> Result<Committed> {
        let Some((records, recorder)) = batch.records() else {
            return self.store.submit(self.table, transaction).await;
        };
        match recorder.commit(self.table, transaction, records).await? {
            Recorded::Committed { committed, is_shared } => {
                self.seen.recorded((self.table, batch.partition_key()), is_shared);
                Ok(committed)
            }
            Recorded::Lost(error) => {
                is_record_lost.store(true, Ordering::Relaxed);
                Err(error)
            }
        }
    }

    /// Returns the outcome of a submitted transaction. `rows` lists the rows that its operations write or check.
    fn outcome(&self, batch: &Batch, rows: &[SentRow], sent: Result<Committed>) -> Result<Outcome> {
        let own = batch.entities().len();
        let error = match sent {
            Ok(etags) => {
                self.seen.committed((self.table, batch.partition_key()), rows, &etags);
                return Ok(Outcome::Committed(etags.into_iter().take(own).collect()));
            }
            Err(error) => error,
        };
        let at = error.operation().or((rows.len() == 1).then_some(0));
        let row_key = at.and_then(|at| rows.get(at)).map(|row| &row.row_key);
        let row = row_key.filter(|_| at.is_some_and(|at| at >= own)).and_then(|key| batch.rows().get(key));
        let is_conflict = error.is_conflict();
        let error = match row_key {
            Some(row_key) => error.with_key(batch.partition_key().as_str(), row_key.as_str()),
            None => error,
        };
        let error = match (row, row_key) {
            (Some(row), Some(row_key)) => at_entity(batch, row_key, error).with_context(&row.by.to_string()),
            _ => error,
        };
        let conflict = match (at, row.map(|row| &row.write)) {
            _ if !is_conflict => return Err(error),
            (Some(at), _) if at < own => Conflict::Entity,
            (_, Some(ContributedWrite::Fixed(_))) => Conflict::Fixed,
            _ => Conflict::Derived,
        };
        Ok(Outcome::Conflict(conflict, error))
    }
}

/// Attributes an error about a contributed row to the entity that added the row.
fn at_entity(batch: &Batch, row_key: &RowKey, error: Error) -> Error {
    match batch.entity_of(row_key) {
        Some(at) => error.with_operation(at),
        None => error,
    }
}

impl<S: TableStore, O: StepRecorder> ReadRow for Site<'_, S, O> {
    fn read<'a>(&'a self, key: &'a EntityKey) -> BoxFuture<'a, Result<Option<StoredRow>>> {
        self.store.get(self.table, key, &Select::All).boxed()
    }
}
