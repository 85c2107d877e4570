//! The queue of one partition's [reservations](crate::unit::reservation). Reads, inserts and deletes their rows.

use std::time::Duration;

use table_core::etag::IfMatch;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Result, ValueRef};

use crate::entities::{SeenRows, touch};
use crate::paging::Pages;
use crate::unit::reservation::{HOLD, MOST_EXPIRED, PREFIX, Reservation, Reservations, Stored, is_refusal};

/// The maximum number of rows read from the queue.
const MOST_READ: usize = 128;

/// The reservations of one partition.
pub(super) struct Queue<'a, S> {
    pub(super) store: &'a S,
    pub(super) table: &'a TableName,
    pub(super) partition_key: &'a PartitionKey,
    pub(super) seen: &'a SeenRows,
}

impl<S: TableStore> Queue<'_, S> {
    /// Returns the first reservations in queue order. Returns an empty list if the credential does not permit reading them.
    ///
    /// # Errors
    /// Any error from the query.
    pub(super) async fn read(&self) -> Result<Reservations> {
        let mut queue = Reservations::default();
        if self.seen.is_unreadable() {
            return Ok(queue);
        }
        let keys = KeyRange::rows(self.partition_key.as_str(), TextRange::prefix(PREFIX));
        let query = Query { top: Some(MOST_READ), select: Select::names([HOLD]), ..Query::new(keys) };
        let (mut rows, mut pages) = (0, Pages::new(self.store, self.table, &query));
        while rows < MOST_READ {
            let page = match pages.next().await {
                Err(error) if is_refusal(error.code()) => {
                    self.seen.refuse_reads(error);
                    return Ok(Reservations::default());
                }
                page => page?,
            };
            let Some(page) = page else { break };
            rows += page.rows.len();
            queue.first.extend(page.rows.iter().filter_map(Stored::read));
        }
        queue.is_whole = pages.is_end();
        queue.first.sort_unstable_by(|left, right| left.reservation.cmp(&right.reservation));
        self.seen.found(&queue.first.iter().map(|stored| stored.reservation.row_key().clone()).collect());
        Ok(queue)
    }

    /// Returns the reservation that a transaction must wait for, if any.
    pub(super) fn ahead<'q>(&self, queue: &'q Reservations, own: Option<&Reservation>) -> Option<&'q Stored> {
        if self.has_stopped_waiting() {
            return None;
        }
        let first = queue
            .first
            .iter()
            .find(|stored| !self.seen.is_passed(stored.reservation.row_key(), &stored.etag));
        first.filter(|first| own != Some(&first.reservation))
    }

    /// Returns `true` if the process has stopped waiting because several consecutive reservations expired while it waited.
    pub(super) fn has_stopped_waiting(&self) -> bool {
        self.seen.expired() >= MOST_EXPIRED
    }

    /// Reserves the partition, or renews the given reservation. If no other reservation is ahead of it, also touches `rows`, which invalidates earlier reads of
    /// these rows. Returns `None` if the credential does not permit reservations.
    ///
    /// # Errors
    /// Any error from a query or a transaction. If the response to the write is lost, the reservation is treated as inserted.
    pub(super) async fn reserve(
        &self,
        own: Option<Reservation>,
        hold: Duration,
        mut rows: Vec<RowKey>,
        random: impl Fn() -> u64,
    ) -> Result<Option<Reservation>> {
        if self.seen.refusal().is_some() {
            return Ok(None);
        }
        let queue = self.read().await?;
        if self.seen.is_unreadable() {
            return Ok(None);
        }
        let own = own.filter(|own| queue.may_contain(own));
        if self.ahead(&queue, own.as_ref()).is_some() {
            rows.clear();
        }
        rows.truncate(self.store.capabilities().limits.operations.saturating_sub(1));
        let next = match own {
            Some(own) => own,
            None => Reservation::behind(queue.first.last().map(|stored| &stored.reservation), random())?,
        };
        loop {
            match self.write(&next, hold, &rows).await {
                Ok(None) => return Ok(Some(next)),
                Ok(Some(at)) => drop(rows.remove(at)),
                Err(error) if error.is_ambiguous() => return Ok(Some(next)),
                Err(error) if is_refusal(error.code()) => {
                    self.seen.refuse(error);
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes a reservation, and an empty merge to each of `rows`. If one of `rows` does not exist, writes nothing and returns its index.
    async fn write(
        &self,
        reservation: &Reservation,
        hold: Duration,
        rows: &[RowKey],
    ) -> Result<Option<usize>> {
        let mut row = RowWriter::with_capacity(1);
        row.property(HOLD, ValueRef::Int64(i64::try_from(hold.as_millis()).unwrap_or(i64::MAX)));
        let kind = OperationKind::InsertOrReplace(row.finish());
        let mut operations = vec![Operation { row_key: reservation.row_key().clone(), kind }];
        let touched =
            rows.iter().map(|row_key| Operation { row_key: row_key.clone(), kind: touch(IfMatch::Any) });
        operations.extend(touched);
        let Err(error) = self.submit(operations).await else { return Ok(None) };
        match error.operation().and_then(|at| at.checked_sub(1)) {
            Some(at) if error.is_not_found() && at < rows.len() => Ok(Some(at)),
            _ => Err(error),
        }
    }

    /// Deletes a reservation whose hold time has ended, unless it has been renewed. A reservation with a hold time of zero is deleted together with all others
    /// of this kind in `queue`, up to the size of one transaction.
    ///
    /// # Errors
    /// Any error from a transaction, except a conflict, which means that the reservation has already been deleted or renewed.
    pub(super) async fn pass(&self, queue: &Reservations, stored: &Stored) -> Result<()> {
        self.seen.pass(stored.reservation.row_key(), &stored.etag);
        if stored.hold.is_zero() {
            return self.delete(queue.first.iter().filter(|other| other.hold.is_zero())).await;
        }
        self.seen.expire(1);
        self.delete([stored]).await
    }

    /// Deletes other transactions' reservations, for which the process no longer waits. Deletes at most as many as fit in one transaction.
    ///
    /// # Errors
    /// Any error from a transaction, except a conflict with a process that deletes or renews one of the reservations at the same time.
    pub(super) async fn discard(&self, queue: &Reservations, own: Option<&Reservation>) -> Result<()> {
        self.delete(queue.first.iter().filter(|stored| own != Some(&stored.reservation))).await
    }

    async fn delete(&self, stored: impl IntoIterator<Item = &Stored>) -> Result<()> {
        let delete = |stored: &Stored| {
            let kind = OperationKind::Delete(IfMatch::ETag(stored.etag.clone()));
            Operation { row_key: stored.reservation.row_key().clone(), kind }
        };
        let most = self.store.capabilities().limits.operations;
        let operations: Vec<_> = stored.into_iter().take(most).map(delete).collect();
        if operations.is_empty() {
            return Ok(());
        }
        match self.submit(operations).await {
            Err(error) if !error.is_conflict() && !error.is_ambiguous() && !is_refusal(error.code()) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Deletes the reservation of a finished transaction. Errors are ignored: the outcome of the transaction is already known, and other processes delete the
    /// reservation when its hold time ends.
    pub(super) async fn release(&self, own: &Reservation) {
        let _expires_otherwise = self.submit(vec![own.delete()]).await;
    }

    async fn submit(&self, operations: Vec<Operation>) -> Result<()> {
        let limits = self.store.capabilities().limits;
        let mut transaction = Transaction::new(self.partition_key.clone(), limits)?;
        operations.into_iter().try_for_each(|operation| transaction.push(operation))?;
        self.store.submit(self.table, transaction).await.map(drop)
    }
}
