//! Writing many entities: transactions of neighbours in one partition, several under way at once, acknowledged in order.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use table_core::{
    DynTableStore, EntityKey, ErrorCode, IfMatch, Operation, OperationKind, TableEntity, TableName,
    TableStore, Transaction,
};

use crate::failure::{Failure, Result};
use crate::transfer::source::Rejected;

/// The transactions under way at once.
const CONCURRENCY: usize = 16;

/// The verb by which a transfer writes entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// Writes the entity, whatever the table has under its key. Repeated, it changes nothing.
    #[default]
    Replace,
    /// Writes the properties of the entity and keeps others of the stored one. Repeated, it changes nothing.
    Merge,
    /// Writes only entities whose key the table does not have; others are rejected.
    Insert,
}

/// One change that a writer makes.
#[derive(Clone, Debug)]
pub enum Change {
    /// The entity is written.
    Write(TableEntity),
    /// The entity with this key is deleted if it still has the `ETag`, or in any version.
    Delete(EntityKey, IfMatch),
}

impl Change {
    const fn key(&self) -> &EntityKey {
        match self {
            Self::Write(entity) => entity.key(),
            Self::Delete(key, _) => key,
        }
    }
}

/// A change, and the line of the file that it comes from.
type Numbered = (u64, Change);

/// The outcome of one transaction.
struct Written {
    /// How many records it settles.
    records: u64,
    rejected: Vec<Rejected>,
    keys: Vec<EntityKey>,
}

type Pending = Pin<Box<dyn Future<Output = Result<Written>> + Send>>;

/// Writes changes in groups. Changes of one key are applied in the order in which they were given.
pub struct Writer {
    store: DynTableStore,
    table: TableName,
    mode: Mode,
    group: Vec<Numbered>,
    transaction: Option<Transaction>,
    under_way: FuturesOrdered<Pending>,
    keys: HashSet<EntityKey>,
    rate: Option<Rate>,
    /// `true` if rejected records are settled as well, `false` if the first one is where the transfer ends.
    is_tolerant: bool,
    /// `true` behind the first rejected record of a transfer that ends there.
    has_ended: bool,
    /// Records that are settled: written, or rejected.
    settled: u64,
    rejected: Vec<Rejected>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("table", &self.table)
            .field("settled", &self.settled)
            .finish_non_exhaustive()
    }
}

impl Writer {
    /// Creates a writer of a table; `rate` is the most rows in a second.
    #[must_use]
    pub fn new(store: DynTableStore, table: TableName, mode: Mode, rate: Option<u32>) -> Self {
        Self {
            store,
            table,
            mode,
            group: Vec::new(),
            transaction: None,
            under_way: FuturesOrdered::new(),
            keys: HashSet::new(),
            rate: rate.map(Rate::new),
            is_tolerant: false,
            has_ended: false,
            settled: 0,
            rejected: Vec::new(),
        }
    }

    /// Counts rejected records as settled, for callers that set them aside and continue.
    #[must_use]
    pub fn tolerant(self) -> Self {
        Self { is_tolerant: true, ..self }
    }

    /// Adds a change. It may be written only with a later one, or by [`flush`](Self::flush).
    ///
    /// # Errors
    /// The errors of the store, for this change or an earlier one.
    pub async fn push(&mut self, line: u64, change: Change) -> Result<()> {
        if self.keys.contains(change.key()) || self.group.iter().any(|(_, other)| other.key() == change.key())
        {
            // The same key again: its earlier change must be applied first.
            self.flush().await?;
        }
        let operation = match operation(self.mode, &change) {
            Ok(operation) => operation,
            Err(error) => return self.reject(line, &error).await,
        };
        let partition_key = &change.key().partition_key;
        if self.transaction.as_ref().is_some_and(|transaction| transaction.partition_key() != partition_key) {
            self.submit().await?;
        }
        let limits = self.store.capabilities().limits;
        for _ in 0..2 {
            let mut transaction = match self.transaction.take() {
                Some(transaction) => transaction,
                None => Transaction::new(partition_key.clone(), limits)?,
            };
            let is_first = transaction.operations().is_empty();
            let pushed = transaction.push(operation.clone());
            if !transaction.operations().is_empty() {
                self.transaction = Some(transaction);
            }
            match pushed {
                Ok(()) => {
                    self.group.push((line, change));
                    return Ok(());
                }
                Err(error) if is_first => return self.reject(line, &error).await,
                Err(_) => self.submit().await?,
            }
        }
        Ok(())
    }

    /// Counts a record that cannot be written, in its turn.
    async fn reject(&mut self, line: u64, error: &table_core::Error) -> Result<()> {
        self.skip(Rejected { line, column: 0, reason: error.to_string() }).await
    }

    /// Counts a record that is none.
    ///
    /// # Errors
    /// The errors of the store, for an earlier change.
    pub async fn skip(&mut self, rejected: Rejected) -> Result<()> {
        self.submit().await?;
        let written = Written { records: 1, rejected: vec![rejected], keys: Vec::new() };
        self.under_way.push_back(Box::pin(std::future::ready(Ok(written))));
        self.bound().await
    }

    /// Sends the group, and waits while too many transactions are under way.
    async fn submit(&mut self) -> Result<()> {
        let group = std::mem::take(&mut self.group);
        let Some(transaction) = self.transaction.take().filter(|_| !group.is_empty()) else { return Ok(()) };
        if let Some(rate) = &mut self.rate {
            rate.wait(group.len()).await;
        }
        self.keys.extend(group.iter().map(|(_, change)| change.key().clone()));
        let (store, table, mode) = (self.store.clone(), self.table.clone(), self.mode);
        // A task of its own: the transactions under way proceed while the next group is read.
        let task = tokio::spawn(async move { write(&store, &table, mode, group, transaction).await });
        self.under_way.push_back(Box::pin(async move {
            task.await.unwrap_or_else(|error| Err(Failure::Refused(format!("a write ended early: {error}"))))
        }));
        self.bound().await
    }

    async fn bound(&mut self) -> Result<()> {
        while self.under_way.len() >= CONCURRENCY {
            self.settle().await?;
        }
        Ok(())
    }

    /// Waits for the oldest transaction under way; `false` if there is none.
    async fn settle(&mut self) -> Result<bool> {
        let Some(written) = self.under_way.next().await else { return Ok(false) };
        let written = written?;
        self.rejected.extend(written.rejected);
        // IMPORTANT: a transfer that ends at a rejected record resumes with it, not behind it.
        self.has_ended |= !self.is_tolerant && !self.rejected.is_empty();
        if !self.has_ended {
            self.settled += written.records;
        }
        for key in &written.keys {
            self.keys.remove(key);
        }
        Ok(true)
    }

    /// Writes everything that was added, and waits until it is acknowledged.
    ///
    /// # Errors
    /// The errors of the store.
    pub async fn flush(&mut self) -> Result<()> {
        self.submit().await?;
        while self.settle().await? {}
        Ok(())
    }

    /// Returns how many records, from the first on, are settled without a gap.
    #[must_use]
    pub const fn settled(&self) -> u64 {
        self.settled
    }

    /// Takes the records that were rejected since the last call, in order.
    pub fn take_rejected(&mut self) -> Vec<Rejected> {
        std::mem::take(&mut self.rejected)
    }
}

fn operation(mode: Mode, change: &Change) -> table_core::Result<Operation> {
    let kind = match change {
        Change::Write(entity) => {
            let row = entity.to_row()?;
            match mode {
                Mode::Replace => OperationKind::InsertOrReplace(row),
                Mode::Merge => OperationKind::InsertOrMerge(row),
                Mode::Insert => OperationKind::Insert(row),
            }
        }
        Change::Delete(_, condition) => OperationKind::Delete(condition.clone()),
    };
    Ok(Operation { row_key: change.key().row_key.clone(), kind })
}

/// Writes a group. A change that the store refuses is rejected, and the others are written without it.
async fn write(
    store: &DynTableStore,
    table: &TableName,
    mode: Mode,
    mut group: Vec<Numbered>,
    mut transaction: Transaction,
) -> Result<Written> {
    let keys: Vec<EntityKey> = group.iter().map(|(_, change)| change.key().clone()).collect();
    let mut written = Written { records: group.len() as u64, rejected: Vec::new(), keys };
    loop {
        let Err(error) = store.submit(table, transaction.clone()).await else { return Ok(written) };
        let named = error.operation().or((group.len() == 1).then_some(0));
        let Some(at) = named.filter(|at| *at < group.len() && is_of_row(&error)) else {
            return Err(error.into());
        };
        let (line, change) = group.remove(at);
        let is_gone = matches!(change, Change::Delete(..)) && error.is_not_found();
        if !is_gone {
            written.rejected.push(Rejected { line, column: 0, reason: error.to_string() });
        }
        let Some((_, first)) = group.first() else { return Ok(written) };
        transaction = Transaction::new(first.key().partition_key.clone(), *transaction.limits())?;
        for (_, change) in &group {
            transaction.push(operation(mode, change)?)?;
        }
    }
}

/// Returns `true` if an error speaks of one entity, and not of the table or the store.
fn is_of_row(error: &table_core::Error) -> bool {
    let is_of_store = error.is_table_not_found() || error.is_ambiguous() || error.is_throttled();
    !is_of_store
        && (error.is_conflict()
            || error.is_already_exists()
            || error.is_invalid_input()
            || error.code() == ErrorCode::EntityTooLarge)
}

/// A bound on rows per second.
#[derive(Debug)]
struct Rate {
    per_second: u32,
    begun: Instant,
    rows: u32,
}

impl Rate {
    fn new(per_second: u32) -> Self {
        Self { per_second: per_second.max(1), begun: Instant::now(), rows: 0 }
    }

    /// Waits until the rows so far are due.
    async fn wait(&mut self, rows: usize) {
        let due = Duration::from_secs_f64(f64::from(self.rows) / f64::from(self.per_second));
        tokio::time::sleep(due.saturating_sub(self.begun.elapsed())).await;
        self.rows = self.rows.saturating_add(u32::try_from(rows).unwrap_or(u32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use table_core::{Engine, TableStoreExt};

    use super::*;

    async fn table() -> (DynTableStore, TableName) {
        let (store, table) = (DynTableStore::new(Engine::in_memory()), TableName::new("Things").unwrap());
        store.create_table(&table).await.unwrap();
        (store, table)
    }

    async fn stored(store: &DynTableStore) -> Vec<TableEntity> {
        store.untyped("Things").unwrap().scan("test").max_rows(10_000).collect().await.unwrap()
    }

    fn entity(partition: &str, row: u32, value: i32) -> Change {
        Change::Write(TableEntity::new(partition, row.to_string()).unwrap().with("V", value))
    }

    #[tokio::test]
    async fn changes_of_one_key_keep_their_order_and_all_are_settled() {
        let (store, table) = table().await;
        let mut writer = Writer::new(store.clone(), table, Mode::Replace, None);
        for value in 0..1_000_i32 {
            writer.push(0, entity("p", value.unsigned_abs() % 7, value)).await.unwrap();
        }
        writer.flush().await.unwrap();
        assert_eq!((writer.settled(), writer.take_rejected()), (1_000, Vec::new()));
        let last: Vec<_> = stored(&store).await.iter().map(|entity| entity.get("V").cloned()).collect();
        let wanted: Vec<_> =
            (0..7).map(|row| Some(((993..1_000).find(|v| v % 7 == row).unwrap()).into())).collect();
        assert_eq!(last, wanted);
    }

    #[tokio::test]
    async fn a_row_that_the_store_refuses_is_rejected_and_its_neighbours_are_written() {
        let (store, table) = table().await;
        let mut writer = Writer::new(store.clone(), table, Mode::Insert, None).tolerant();
        for (line, row) in [(2, 1), (3, 2)] {
            writer.push(line, entity("p", row, 0)).await.unwrap();
        }
        writer.flush().await.unwrap();
        for (line, row) in [(4, 2), (5, 3)] {
            writer.push(line, entity("p", row, 1)).await.unwrap();
        }
        let huge = TableEntity::new("p", "4").unwrap().with("V", "x".repeat(40_000));
        writer.push(6, Change::Write(huge)).await.unwrap();
        writer.flush().await.unwrap();
        let rejected: Vec<_> = writer.take_rejected().iter().map(|rejected| rejected.line).collect();
        assert_eq!((rejected, writer.settled(), stored(&store).await.len()), (vec![4, 6], 5, 3));
    }
}
