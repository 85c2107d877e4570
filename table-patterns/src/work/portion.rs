//! Reads the outbox rows that a message refers to, in [portions](Reading).

use table_core::Result;
use table_core::limits::PAGE_ENTITIES;
use table_core::query::{EntityRef, Page, Query, Select};
use table_core::queue::QueueStore;
use table_core::store::TableStore;

use crate::outbox::rows::{self, Pending};
use crate::outbox::work::Work;
use crate::read_many;
use crate::work::claim::{Claims, PORTION, none_if_deleted};
use crate::work::handler::Keep as _;
use crate::work::reading::Reading;

impl<S: TableStore, Q: QueueStore> Claims<'_, '_, S, Q> {
    /// Reads the current portion of the rows that a message refers to. If another worker changes one of the rows before they are claimed, this function is
    /// called again for the same portion.
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
        let read = |row: EntityRef<'_>| Pending::read(self.table, row).map(Some);
        // If the store cannot represent a row, the other rows are still read.
        let found = || read_many::rows_or(of, &keys, &Select::All, read, |_| Ok(None));
        let found = self.worker.retry(self.held, found).await;
        Ok(none_if_deleted(found.map(Some))?.unwrap_or_default().into_iter().flatten().flatten().collect())
    }

    /// Reads a large page of rows without their intents. Remembers the keys of the free rows.
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

    /// Reads one page of the pending rows in a message's partition.
    async fn page(&self, reading: &Reading, (most, select): (usize, Select)) -> Result<Page> {
        let store = self.worker.outbox.store();
        let range = rows::range_after(self.partition_key, reading.start.as_ref());
        let query = Query { top: Some(most), select, ..Query::new(range) };
        let from = reading.from.as_ref();
        let page = self.worker.retry(self.held, || store.query(self.table, &query, from)).await;
        Ok(none_if_deleted(page.map(Some))?.unwrap_or_default())
    }
}
