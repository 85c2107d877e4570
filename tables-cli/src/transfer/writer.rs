//! Writes many entities. Changes to one partition are grouped into transactions, and several transactions run concurrently.

mod buffer;
mod group;
mod guard;
mod settlement;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use table_core::{DynTableStore, EntityKey, Error, TableName, TableStore};

use crate::failure::{Failure, Result};
use crate::rate::Rate;
use crate::transfer::change::Numbered;
pub use crate::transfer::change::{Change, Mode};
use buffer::Buffer;
use group::{Group, Written};
use settlement::Settlement;
use table_inspect::record::Rejected;

/// The maximum number of concurrent transactions.
const CONCURRENCY: usize = 16;
/// The maximum number of records from the first unsettled record onwards. A record is unsettled until it has been written or rejected. A resumed transfer
/// repeats at most `OPEN` records.
const OPEN: usize = 3 * buffer::CHANGES;

type Pending = Pin<Box<dyn Future<Output = Result<Written>> + Send>>;

/// A writer that groups changes into transactions. Changes to the same key are applied in insertion order. Changes to different keys are applied in any order.
pub struct Writer {
    store: DynTableStore,
    table: TableName,
    mode: Mode,
    buffer: Buffer,
    under_way: FuturesUnordered<Pending>,
    bytes_under_way: usize,
    /// The keys of all changes added but not yet applied.
    keys: HashSet<EntityKey>,
    rate: Option<Rate>,
    settlement: Settlement,
    guards_parts: bool,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("table", &self.table)
            .field("settled", &self.settled())
            .finish_non_exhaustive()
    }
}

impl Writer {
    /// Creates a writer for a table. `rate` is the maximum number of rows written per second.
    #[must_use]
    pub fn new(store: DynTableStore, table: TableName, mode: Mode, rate: Option<u32>) -> Self {
        Self {
            store,
            table,
            mode,
            buffer: Buffer::default(),
            under_way: FuturesUnordered::new(),
            bytes_under_way: 0,
            keys: HashSet::new(),
            rate: rate.map(Rate::new),
            settlement: Settlement::default(),
            guards_parts: false,
        }
    }

    /// Makes the writer reject an entity that would replace a part of a wide entity with a part from a different write, or rewind a sequence. Before each
    /// transaction that may contain such rows, the writer reads the stored rows. It then applies the changes only if those rows are unchanged.
    #[must_use]
    pub const fn guarding_parts(mut self) -> Self {
        self.guards_parts = true;
        self
    }

    /// Makes the writer continue after rejected records instead of stopping at the first one. Callers use this if they write rejected records to a separate
    /// file.
    #[must_use]
    pub fn tolerant(mut self) -> Self {
        self.settlement.is_tolerant = true;
        self
    }

    /// Adds a change. The change may remain unwritten until a later change is added or [`flush`](Self::flush) is called.
    ///
    /// # Errors
    /// Any error from the store when writing this change or an earlier one.
    pub async fn push(&mut self, line: u64, change: Change) -> Result<()> {
        self.push_unit(line, vec![change]).await
    }

    /// Adds changes to one partition, to be written in one transaction. If one of them is rejected, all are rejected, except deletions of rows that do not
    /// exist.
    ///
    /// # Errors
    /// Any error from the store when writing these changes or earlier ones.
    pub async fn push_unit(&mut self, line: u64, changes: Vec<Change>) -> Result<()> {
        let mut unit = Vec::with_capacity(changes.len());
        for change in &changes {
            self.apply_earlier(change.key()).await?;
        }
        for change in changes {
            let number = self.settlement.add();
            self.keys.insert(change.key().clone());
            unit.push(Numbered { number, unit: number, line, change });
        }
        let first = unit.first().map_or(0, |first| first.unit);
        for numbered in &mut unit {
            numbered.unit = first;
        }
        let pushed = self.buffer.push(unit, self.mode, self.store.capabilities().limits)?;
        if let Some((refused, error)) = pushed.refused {
            for Numbered { number, line, change, .. } in refused {
                self.keys.remove(change.key());
                self.settlement.reject(number, rejection(line, &error));
            }
        }
        if let Some(full) = pushed.full {
            self.submit(full).await?;
        }
        while self.buffer.is_full() {
            let Some(oldest) = self.buffer.take_oldest() else { break };
            self.submit(oldest).await?;
        }
        self.bound_open().await
    }

    /// Writes the oldest group if too many records are unsettled. The first unsettled record is either being written or in the oldest group.
    async fn bound_open(&mut self) -> Result<()> {
        if self.settlement.open() < OPEN {
            return Ok(());
        }
        if let Some(oldest) = self.buffer.take_oldest() {
            self.submit(oldest).await?;
        }
        while self.settlement.open() >= OPEN && self.settle().await? {}
        Ok(())
    }

    /// Waits until all earlier changes to this key have been applied.
    async fn apply_earlier(&mut self, key: &EntityKey) -> Result<()> {
        if self.keys.contains(key)
            && let Some(group) = self.buffer.take(&key.partition_key)
        {
            self.submit(group).await?;
        }
        while self.keys.contains(key) && self.settle().await? {}
        Ok(())
    }

    /// Adds a rejected record that is not an entity. If the writer stops at rejected records, first writes all earlier changes.
    ///
    /// # Errors
    /// Any error from the store when writing an earlier change.
    pub async fn skip(&mut self, rejected: Rejected) -> Result<()> {
        if !self.settlement.is_tolerant {
            self.flush().await?;
        }
        let number = self.settlement.add();
        self.settlement.reject(number, rejected);
        Ok(())
    }

    /// Sends a group as a transaction. Then waits until the number of transactions in progress and their total size are below their limits.
    async fn submit(&mut self, group: Group) -> Result<()> {
        if let Some(rate) = &self.rate {
            rate.ready().await;
            rate.count(group.len());
        }
        self.bytes_under_way += group.bytes();
        let (store, table, mode) = (self.store.clone(), self.table.clone(), self.mode);
        // A spawned task lets the transactions in progress continue while the next group is read.
        let guards_parts = self.guards_parts;
        let task = tokio::spawn(async move { group.write(&store, &table, mode, guards_parts).await });
        self.under_way.push(Box::pin(async move {
            task.await.unwrap_or_else(|error| Err(Failure::Refused(format!("a write ended early: {error}"))))
        }));
        while self.under_way.len() >= CONCURRENCY || self.bytes_under_way > buffer::BYTES {
            self.settle().await?;
        }
        Ok(())
    }

    /// Waits until one of the transactions in progress completes. Returns `false` if none is in progress.
    async fn settle(&mut self) -> Result<bool> {
        let Some(written) = self.under_way.next().await else { return Ok(false) };
        let written = written?;
        self.bytes_under_way -= written.bytes;
        for key in &written.keys {
            self.keys.remove(key);
        }
        for (number, rejected) in written.outcomes {
            match rejected {
                None => self.settlement.written(number),
                Some(rejected) => self.settlement.reject(number, rejected),
            }
        }
        Ok(true)
    }

    /// Writes all added changes, and waits until the store has acknowledged them.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn flush(&mut self) -> Result<()> {
        while let Some(group) = self.buffer.take_oldest() {
            self.submit(group).await?;
        }
        while self.settle().await? {}
        Ok(())
    }

    /// Returns the number of settled records: those before the first record that has been neither written nor rejected.
    #[must_use]
    pub const fn settled(&self) -> u64 {
        self.settlement.settled()
    }

    /// Takes the rejected records settled since the last call, in order. If the writer stops at rejected records, returns at most the first rejected record,
    /// because settlement ends there.
    pub fn take_rejected(&mut self) -> Vec<Rejected> {
        self.settlement.take_rejected()
    }

    /// Returns an error for the first rejected record. `target` names the target in the message. For callers that stop at the first rejected record.
    ///
    /// # Errors
    /// `Refused`, with the line of the record and the reason, if a record has been rejected.
    pub fn refuse_rejected(&mut self, target: &str) -> Result<()> {
        match self.take_rejected().into_iter().next() {
            None => Ok(()),
            Some(Rejected { line: 0, reason, .. }) => {
                Err(Failure::Refused(format!("{target} refuses a row: {reason}")))
            }
            Some(Rejected { line, reason, .. }) => {
                Err(Failure::Refused(format!("{target} refuses row {line}: {reason}")))
            }
        }
    }
}

fn rejection(line: u64, error: &Error) -> Rejected {
    Rejected { line, column: 0, reason: error.to_string() }
}
