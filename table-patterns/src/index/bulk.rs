//! Bulk loads of entities with their indexes: as many transactions as it takes, packed by what each entity needs (PAT-INTRA-8).

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use table_core::entity::Entity;
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::ETag;
use table_core::key::PartitionKey;
use table_core::limits::Limits;
use table_core::operation::OperationKind;
use table_core::store::TableStore;
use table_core::table::WrittenPositions;

use crate::index::attempts::{RACE, is_moved, is_too_much};
use crate::index::batch::{Batch, Write};
use crate::index::kept::Asked;
use crate::index::outbox::IndexOutbox;
use crate::index::table::Entities;
use crate::requests;

/// Partitions that are written at once (IMP-5).
const CONCURRENCY: usize = 8;
/// Entities looked at together: those of one partition among them share transactions.
const WINDOW: usize = 4_000;
/// Bytes looked at together: a bound on memory.
const WINDOW_BYTES: usize = 64 << 20;

/// A bulk insert of entities with their indexes. Not atomic: each transaction is, the whole is not.
///
/// A transaction takes as many entities of one partition as fit with their copies, lists and records: 33 entities with two
/// copies each make the 99 operations of one (EGT-2). After an error nothing more of its partition is begun, nor a further
/// window of 4,000 entities; the error says by position which entities have been written.
///
/// ```
/// # use table_core::{Engine, Entity};
/// # use table_patterns::EntityStore;
/// # #[derive(Entity, Clone)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # #[index(ByEmail, unique, row_key("email_", email))]
/// # #[index(ByAge, row_key("age_", age, "_", id))]
/// # struct Employee { department: String, #[digits(6)] id: u32, #[digits(3)] age: u8, email: String }
/// # pollster::block_on(async {
/// let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
/// let employee = |id| Employee { department: "Sales".into(), id, age: 36, email: format!("{id}@contoso.com") };
/// let written = employees.bulk().insert_all((0..100).map(employee)).await?;
/// assert_eq!((written.len(), employees.query(Employee::partition("Sales")).collect().await?.len()), (100, 100));
///
/// let error = employees.bulk().insert_all((95..105).map(employee)).await.unwrap_err();
/// assert!(error.source.is_already_exists() && error.at == Some(0) && error.written.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[must_use = "a bulk write does nothing until it is given entities"]
pub struct IndexedBulk<'a, E, S, O> {
    table: &'a Entities<E, S, O>,
    done: WrittenPositions,
    concurrency: usize,
}

/// Why a bulk insert stopped, and what it had written by then.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IndexedBulkError {
    /// The first error by position.
    pub source: Error,
    /// The position of the entity that it happened to; of a transaction as a whole, that of its first entity.
    pub at: Option<usize>,
    /// What has been written: give it to [`IndexedBulk::resume`].
    pub written: WrittenPositions,
    /// What may or may not have been written (CON-11): read it before resuming.
    pub unknown: WrittenPositions,
}

impl fmt::Display for IndexedBulkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bulk insert stopped after {} entities had been written", self.written.len())
    }
}

impl std::error::Error for IndexedBulkError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl<E: Entity, S: TableStore, O: IndexOutbox> Entities<E, S, O> {
    /// Begins a bulk insert, which is not atomic.
    pub fn bulk(&self) -> IndexedBulk<'_, E, S, O> {
        IndexedBulk { table: self, done: WrittenPositions::default(), concurrency: CONCURRENCY }
    }
}

/// A transaction's worth of entities.
struct Link {
    /// What the batch is made of, each with its position in the input.
    writes: Vec<(usize, Write)>,
    /// Without what copies add: that is read when it is written.
    batch: Batch,
}

impl Link {
    const fn new(partition_key: PartitionKey) -> Self {
        Self { writes: Vec::new(), batch: Batch::new(partition_key) }
    }

    fn push<E: Entity>(&mut self, position: usize, write: Write) -> Result<()> {
        self.writes.push((position, write.clone()));
        self.batch.push::<E>(write)
    }

    fn positions(&self) -> Vec<usize> {
        self.writes.iter().map(|(position, _)| *position).collect()
    }

    /// The same in two transactions.
    fn halves<E: Entity>(mut self) -> Result<[Self; 2]> {
        let back = self.writes.split_off(self.writes.len() / 2);
        let half = |writes: Vec<_>| {
            let mut half = Self::new(self.batch.partition_key.clone());
            writes
                .into_iter()
                .try_for_each(|(position, write)| half.push::<E>(position, write))
                .map(|()| half)
        };
        Ok([half(self.writes)?, half(back)?])
    }
}

impl<E: Entity, S: TableStore, O: IndexOutbox> IndexedBulk<'_, E, S, O> {
    /// How many partitions are written at once; at least 1, by default 8.
    pub fn concurrency(self, partitions: usize) -> Self {
        Self { concurrency: partitions.max(1), ..self }
    }

    /// Skips what an earlier run of the same input has written.
    pub fn resume(self, written: WrittenPositions) -> Self {
        Self { done: written, ..self }
    }

    /// Inserts all entities.
    ///
    /// # Errors
    /// The first error by position, `EntityAlreadyExists` and `UniqueViolation` among them, with what has been written.
    pub async fn insert_all<T: Borrow<E>>(
        mut self,
        entities: impl IntoIterator<Item = T>,
    ) -> Result<WrittenPositions, IndexedBulkError> {
        let limits = self.table.table().store().capabilities().limits;
        let mut entities = entities.into_iter().enumerate();
        loop {
            let mut chains: BTreeMap<PartitionKey, Vec<Link>> = BTreeMap::new();
            let (mut count, mut bytes, mut failure, mut ended) = (0, 0, None, false);
            while failure.is_none() && !ended && count < WINDOW && bytes < WINDOW_BYTES {
                match entities.next() {
                    None => ended = true,
                    Some((position, _)) if self.done.contains(position) => {}
                    Some((position, entity)) => {
                        match add(self.table, entity.borrow(), position, &mut chains, &limits) {
                            Ok(size) => (count, bytes) = (count + 1, bytes + size),
                            Err(error) => failure = Some((position, error)),
                        }
                    }
                }
            }
            // What precedes a broken entity is written before that is reported.
            self.write(chains, failure).await?;
            if ended {
                return Ok(self.done);
            }
        }
    }

    async fn write(
        &mut self,
        chains: BTreeMap<PartitionKey, Vec<Link>>,
        failure: Option<(usize, Error)>,
    ) -> Result<(), IndexedBulkError> {
        let table = self.table;
        let writes = chains.into_values().map(|mut chain| async move {
            let mut written = Vec::new();
            chain.reverse();
            while let Some(link) = chain.pop() {
                let positions = link.positions();
                let done = match table.commit_kept(&link.batch, &link.writes).await {
                    // How large a list has become, and what copies add, is only known when it is read: what did not fit is tried in halves.
                    Err(error) if is_too_large(&error, table.keeps_copies()) && positions.len() > 1 => {
                        link.halves::<E>().map(|[front, back]| chain.extend([back, front]))
                    }
                    done => done.map(|_| written.extend(positions.iter().copied())),
                };
                if let Err(error) = done {
                    return (written, Some((positions, error)));
                }
            }
            (written, None)
        });
        let outcomes: Vec<_> = requests::all(writes, self.concurrency).await;
        let mut failures: Vec<_> = failure.into_iter().collect();
        let mut all: Vec<usize> = self.done.ranges().iter().cloned().flatten().collect();
        let mut unknown = WrittenPositions::default();
        for (written, failed) in outcomes {
            all.extend(written);
            if let Some((positions, error)) = failed {
                let at = error.operation().and_then(|at| positions.get(at)).or(positions.first()).copied();
                failures.extend(at.map(|at| (at, error.clone())));
                if error.is_ambiguous() {
                    unknown = unknown.ranges().iter().cloned().flatten().chain(positions).collect();
                }
            }
        }
        self.done = all.into_iter().collect();
        match failures.into_iter().min_by_key(|(at, _)| *at) {
            None => Ok(()),
            Some((at, source)) => Err(IndexedBulkError {
                source,
                at: Some(at),
                written: std::mem::take(&mut self.done),
                unknown,
            }),
        }
    }
}

impl<E: Entity, S: TableStore, O: IndexOutbox> Entities<E, S, O> {
    /// Commits inserts, completed by the copies that they hold: again where what was read for these has changed.
    async fn commit_kept(&self, batch: &Batch, writes: &[(usize, Write)]) -> Result<Vec<Option<ETag>>> {
        let Some(keeper) = &self.keeper else { return self.commit(batch).await };
        let mut race = self.retry.race(RACE);
        loop {
            let mut kept = Batch::new(batch.partition_key.clone());
            let mut completed = Ok(());
            for (_, Write { key, kind, .. }) in writes {
                let (key, kind, unit) = (key.clone(), kind.clone(), Arc::default());
                let asked = Asked { key, kind, stored: None, together: true, unit };
                completed = keeper.keep(self, asked).await.and_then(|write| write.push::<E>(&mut kept));
                if completed.is_err() {
                    break;
                }
            }
            let done = match completed {
                Err(error) if is_moved(&error) => {
                    race.lost(error).await?;
                    continue;
                }
                completed => completed.map(|()| &kept)?,
            };
            match self.commit(done).await {
                Err(error) if is_of_another(&error, writes.len()) => race.lost(error).await?,
                outcome => return outcome,
            }
        }
    }
}

/// Whether a transaction is refused for a row that is none of its first entities.
fn is_of_another(error: &Error, entities: usize) -> bool {
    error.is_conflict() && error.operation().is_some_and(|at| at >= entities)
}

fn is_too_large(error: &Error, keeps: bool) -> bool {
    error.code() == ErrorCode::RequestBodyTooLarge || keeps && is_too_much(error)
}

/// Adds an entity to the last transaction of its partition, or to a new one if it does not fit there; gives its bytes.
fn add<E: Entity, S: TableStore, O: IndexOutbox>(
    table: &Entities<E, S, O>,
    entity: &E,
    position: usize,
    chains: &mut BTreeMap<PartitionKey, Vec<Link>>,
    limits: &Limits,
) -> Result<usize> {
    let key = entity.key_of()?;
    let chain = chains.entry(key.partition_key.clone()).or_default();
    let write = table.write_of(key.clone(), OperationKind::Insert(entity.to_row()?), None, Some(entity))?;
    let bytes = write.bytes();
    let fits = |link: &Link| {
        link.batch.operations_with(&write) <= limits.operations
            && link.batch.bytes() + bytes <= limits.transaction_bytes
            && !link.batch.meets(&write)
    };
    if !chain.last().is_some_and(fits) {
        chain.push(Link::new(key.partition_key));
    }
    if let Some(link) = chain.last_mut() {
        link.push::<E>(position, write)?;
    }
    Ok(bytes)
}

impl<E, S: fmt::Debug, O: fmt::Debug> fmt::Debug for IndexedBulk<'_, E, S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexedBulk")
            .field("table", &self.table)
            .field("done", &self.done)
            .field("concurrency", &self.concurrency)
            .finish()
    }
}
