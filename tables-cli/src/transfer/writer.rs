//! Writing many entities: transactions of neighbouring entities in one partition, several of them in progress at once, and acknowledged in order.

mod change;
mod group;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use table_core::{DynTableStore, EntityKey, TableName, TableStore, Transaction};

use crate::failure::{Failure, Result};
use crate::transfer::rate::Rate;
use crate::transfer::source::Rejected;
use change::Numbered;
pub use change::{Change, Mode};
use group::Written;

/// The maximum number of transactions in progress at once.
const CONCURRENCY: usize = 16;

type Pending = Pin<Box<dyn Future<Output = Result<Written>> + Send>>;

/// Writes changes in groups. Changes of the same key are applied in the order in which they were added.
pub struct Writer {
    store: DynTableStore,
    table: TableName,
    mode: Mode,
    group: Vec<Numbered>,
    transaction: Option<Transaction>,
    under_way: FuturesOrdered<Pending>,
    keys: HashSet<EntityKey>,
    rate: Option<Rate>,
    /// `true` if rejected records also count as settled, `false` if the transfer ends at the first one.
    is_tolerant: bool,
    /// `true` after the first rejected record of a transfer that ends there.
    has_ended: bool,
    /// The number of settled records, which were either written or rejected.
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
    /// Creates a writer of a table. `rate` is the maximum number of rows per second.
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

    /// Adds a change. It may not be written before a later change is added or [`flush`](Self::flush) is called.
    ///
    /// # Errors
    /// Any error of the store while this change or an earlier one was written.
    pub async fn push(&mut self, line: u64, change: Change) -> Result<()> {
        if self.keys.contains(change.key()) || self.group.iter().any(|(_, other)| other.key() == change.key())
        {
            // The same key again: its earlier change must be applied first.
            self.flush().await?;
        }
        let operation = match change.operation(self.mode) {
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

    /// Counts a record that cannot be written, in the order of the records.
    async fn reject(&mut self, line: u64, error: &table_core::Error) -> Result<()> {
        self.skip(Rejected { line, column: 0, reason: error.to_string() }).await
    }

    /// Counts a record that is not an entity.
    ///
    /// # Errors
    /// Any error of the store while an earlier change was written.
    pub async fn skip(&mut self, rejected: Rejected) -> Result<()> {
        self.submit().await?;
        let written = Written { records: 1, rejected: vec![rejected], keys: Vec::new() };
        self.under_way.push_back(Box::pin(std::future::ready(Ok(written))));
        self.bound().await
    }

    /// Sends the group, and waits while too many transactions are in progress.
    async fn submit(&mut self) -> Result<()> {
        let group = std::mem::take(&mut self.group);
        let Some(transaction) = self.transaction.take().filter(|_| !group.is_empty()) else { return Ok(()) };
        if let Some(rate) = &mut self.rate {
            rate.wait(group.len()).await;
        }
        self.keys.extend(group.iter().map(|(_, change)| change.key().clone()));
        let (store, table, mode) = (self.store.clone(), self.table.clone(), self.mode);
        // A task of its own: the transactions under way proceed while the next group is read.
        let task = tokio::spawn(async move { group::write(&store, &table, mode, group, transaction).await });
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

    /// Waits for the oldest transaction in progress; `false` if there is none.
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
    /// Any error of the store.
    pub async fn flush(&mut self) -> Result<()> {
        self.submit().await?;
        while self.settle().await? {}
        Ok(())
    }

    /// Returns the number of records that are settled without a gap, starting with the first one.
    #[must_use]
    pub const fn settled(&self) -> u64 {
        self.settled
    }

    /// Takes the records that were rejected since the last call, in order.
    pub fn take_rejected(&mut self) -> Vec<Rejected> {
        std::mem::take(&mut self.rejected)
    }
}
