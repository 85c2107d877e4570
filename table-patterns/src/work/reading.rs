//! Reads the outbox rows of a message in portions.
//!
//! Each commit with an intent sends a message for its partition, so a partition with many waiting rows receives many messages. The rows are read in small pages
//! until a page contains no free row. From then on, large pages with only the properties that show whether a row is free are read, and the free rows are read
//! completely before they are claimed.

use std::collections::VecDeque;

use table_core::Result;
use table_core::key::{EntityKey, RowKey};
use table_core::limits::PAGE_ENTITIES;
use table_core::query::{Continuation, EntityRef, Page, Query, Select};
use table_core::queue::QueueStore;
use table_core::store::TableStore;

use crate::outbox::rows::{self, Pending};
use crate::outbox::work::Work;
use crate::read_many;
use crate::work::claim::{Claims, PORTION, none_if_deleted};
use crate::work::handler::Keep as _;

/// The progress of a delivery through the outbox rows of its message.
pub(super) struct Reading {
    /// The key of the row after which the queries begin; `None` if they begin with the first row.
    start: Option<RowKey>,
    /// The continuation of the current page; `None` for the first page.
    from: Option<Continuation>,
    /// The continuation of the next page; `None` if the current page is the last page.
    next: Option<Continuation>,
    /// `true` if large pages are read.
    skims: bool,
    /// `true` if the store returns rows in key order.
    is_ordered: bool,
    /// The keys of the free rows in the current large page that have not been claimed.
    free: VecDeque<EntityKey>,
    /// The key of the last row in the current page.
    last: Option<RowKey>,
    /// The key of the last row in the current portion, after which another delivery can continue.
    pub(super) after: Option<RowKey>,
    /// The number of rows in the current portion of a large page.
    portion: usize,
}

impl Reading {
    /// Begins after the row at which an earlier delivery ended, or with the first row if the store has no key order.
    pub(super) fn new(work: &Work, is_ordered: bool) -> Self {
        let start = work.progress().after.clone().filter(|_| is_ordered);
        let (last, after, free) = (start.clone(), start.clone(), VecDeque::new());
        Self { start, from: None, next: None, skims: false, is_ordered, free, last, after, portion: 0 }
    }

    /// Moves past the current portion. `had_free` is `true` if some of its rows were free. Returns `false` if it was the last portion.
    pub(super) fn advance(&mut self, had_free: bool) -> bool {
        self.free.drain(..self.portion.min(self.free.len()));
        self.portion = 0;
        if !self.free.is_empty() {
            return true;
        }
        self.from = self.next.take();
        let is_last = self.from.is_none();
        if !had_free && !self.skims {
            self.skims = true;
            // A continuation token is valid only for a query that selects the same properties, so the large pages begin with a new query.
            self.from = None;
            self.start = self.last.clone().filter(|_| self.is_ordered);
        }
        !is_last
    }

    /// Records that a page has been read.
    fn read(&mut self, last: Option<RowKey>, next: Option<Continuation>) {
        self.last = last.or_else(|| self.last.take());
        self.after.clone_from(&self.last);
        self.next = next;
    }
}

impl<S: TableStore, Q: QueueStore> Claims<'_, '_, S, Q> {
    /// Reads the current portion of the rows to which a message refers. If another worker changes one of the rows before they are claimed, the portion is
    /// reread.
    pub(super) async fn portion(&mut self, work: &Work, reading: &mut Reading) -> Result<Vec<Pending>> {
        if let Work::Row(place) = work {
            return Ok(self.row(place).await?.into_iter().collect());
        }
        let most = self.worker.outbox.store().capabilities().limits.operations.clamp(1, PORTION);
        if !reading.skims {
            let page = self.page(reading, (most, Select::All)).await?;
            let rows: Vec<_> =
                page.rows.iter().map(|row| Pending::read(self.table, row)).collect::<Result<_>>()?;
            reading.read(rows.last().map(|row| row.place.row_key.to_row_key()), page.continuation);
            return Ok(rows);
        }
        if reading.free.is_empty() {
            self.skim(reading).await?;
        }
        reading.portion = most.min(reading.free.len());
        let keys: Vec<_> = reading.free.iter().take(most).cloned().collect();
        reading.after = match keys.last() {
            Some(last) if keys.len() < reading.free.len() => Some(last.row_key.clone()),
            _ => reading.last.clone(),
        };
        let of = (self.worker.outbox.store(), self.table);
        let read = |row: EntityRef<'_>| Pending::read(self.table, row);
        let found = self.worker.retry(self.held, || read_many::rows(of, &keys, &Select::All, read)).await;
        Ok(none_if_deleted(found.map(Some))?.unwrap_or_default().into_iter().flatten().collect())
    }

    /// Reads a large page, and remembers the keys of its free rows.
    async fn skim(&mut self, reading: &mut Reading) -> Result<()> {
        let select = Select::names(["PartitionKey", "RowKey", rows::NOT_BEFORE, rows::WAIT, rows::CLAIM]);
        let page = self.page(reading, (PAGE_ENTITIES, select)).await?;
        let (now, mut last) = (self.held.now(), None);
        for row in page.rows.iter() {
            let pending = Pending::read(self.table, row)?;
            last = Some(pending.place.row_key.to_row_key());
            if self.is_free(&pending, now) {
                reading.free.push_back(pending.place.key());
            } else {
                self.leave(&pending);
            }
        }
        reading.read(last, page.continuation);
        Ok(())
    }

    /// Reads one page of the pending rows in the partition of a message.
    async fn page(&self, reading: &Reading, (most, select): (usize, Select)) -> Result<Page> {
        let store = self.worker.outbox.store();
        let range = rows::range_after(self.partition_key, reading.start.as_ref());
        let query = Query { top: Some(most), select, ..Query::new(range) };
        let from = reading.from.as_ref();
        let page = self.worker.retry(self.held, || store.query(self.table, &query, from)).await;
        Ok(none_if_deleted(page.map(Some))?.unwrap_or_default())
    }
}
