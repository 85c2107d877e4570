//! Reservations: a transaction that lost several attempts to other processes asks them to wait.
//!
//! Within a process, transactions take turns. Between processes, the one nearest to the store wins every race, so a process with a distant store
//! could lose all of its attempts. After [`LOSSES`] lost attempts, a transaction therefore inserts a reservation into the partition:
//!
//! | row | properties |
//! |---|---|
//! | `U+FFFC reservation_`, 10 digits: its place in the queue, `_`, and 16 hexadecimal digits: its random number | `HoldMillis`: Int64, the time that others wait for it |
//!
//! If no other reservation exists, the same transaction touches the rows that were read, which changes their versions. Attempts of other processes on
//! these rows then have a conflict, and attempts that begin later find a version that their process does not know ([`SeenRows`]). In both cases
//! they look for reservations, and wait until the first of the queue is their own or none exists. The commit deletes the reservation.
//!
//! A process that waits measures the hold of a reservation by its own clock, from the moment at which it first saw this reservation as the first of
//! the queue. It then deletes the reservation, because its owner may have ended. Clocks of several processes are never compared.
//!
//! A reservation is advice: correctness depends only on the versions of the rows. `docs/models/fairness.rs` is the model of this protocol.

use std::time::Duration;

use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{EntityRef, KeyRange, Query, TextRange};
use table_core::row::RowWriter;
use table_core::runtime::Runtime;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::value::ValueRef;

use crate::entities::{SeenRows, touch};
use crate::paging::each_row;

/// The prefix of the `RowKey`s of reservations. The place in the queue follows it.
pub(crate) const PREFIX: &str = "\u{FFFC}reservation_";
const HOLD: &str = "HoldMillis";

/// The number of lost attempts after which a transaction reserves its partition.
pub(super) const LOSSES: usize = 3;
/// The shortest and the longest hold.
const HOLDS: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// The shortest and the longest pause between two reads of the queue.
pub(super) const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(32));

/// A reservation of a transaction. The order is that of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reservation {
    /// The place in the queue.
    place: u64,
    /// A random number, which distinguishes it from other reservations with this place, now or earlier.
    id: u64,
}

/// A stored reservation.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) reservation: Reservation,
    pub(super) hold: Duration,
    etag: ETag,
}

impl Reservation {
    /// Returns the key of its row.
    pub(super) fn row_key(self) -> Result<RowKey> {
        RowKey::new(format!("{PREFIX}{:010}_{:016x}", self.place, self.id))
    }

    /// Returns `true` if an error says that the reservation does not exist.
    pub(super) fn is_at(self, error: &Error) -> bool {
        let row_key = self.row_key().ok();
        error.is_not_found()
            && error.key().map(|(_, row_key)| row_key) == row_key.as_ref().map(RowKey::as_str)
    }

    /// Returns the operation by which its transaction deletes it.
    pub(super) fn delete(self) -> Result<Operation> {
        Ok(Operation { row_key: self.row_key()?, kind: OperationKind::Delete(IfMatch::Any) })
    }
}

impl Stored {
    /// Reads a row of the queue; `None` for a row of a newer release.
    fn read(entity: EntityRef<'_>) -> Result<Option<Self>> {
        let parts = entity.row_key.strip_prefix(PREFIX).and_then(|parts| parts.split_once('_'));
        let parts =
            parts.and_then(|(place, id)| Some((place.parse().ok()?, u64::from_str_radix(id, 16).ok()?)));
        let (Some((place, id)), Some(ValueRef::Int64(hold))) = (parts, entity.row.find(HOLD, &mut 0)?) else {
            return Ok(None);
        };
        let hold = Duration::from_millis(u64::try_from(hold).unwrap_or_default()).min(HOLDS.1);
        Ok(Some(Self { reservation: Reservation { place, id }, hold, etag: entity.etag() }))
    }
}

/// Returns how long to hold the reservation, given the duration of the last attempt and of an earlier hold that was too short.
pub(super) fn hold(attempt: Duration, earlier: Duration) -> Duration {
    let wanted = attempt.saturating_mul(4).saturating_add(PAUSES.1.saturating_mul(4));
    wanted.max(earlier.saturating_mul(2)).clamp(HOLDS.0, HOLDS.1)
}

/// Returns the time since `began` by the clock of this process.
pub(super) fn elapsed(began: u64, runtime: &Runtime) -> Duration {
    Duration::from_nanos(runtime.now().saturating_sub(began).saturating_mul(100))
}

/// Returns `true` if the credentials do not cover the rows of reservations, as with a shared access signature for a range of `RowKey`s.
pub(super) const fn is_refusal(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::AuthorizationFailure | ErrorCode::AuthorizationPermissionMismatch)
}

/// The reservations of one partition.
pub(super) struct Queue<'a, S> {
    pub(super) store: &'a S,
    pub(super) table: &'a TableName,
    pub(super) partition_key: &'a PartitionKey,
    pub(super) seen: &'a SeenRows,
}

impl<S: TableStore> Queue<'_, S> {
    /// Returns the reservations in their order; none if the credentials do not cover them.
    ///
    /// # Errors
    /// Any error of a query.
    pub(super) async fn read(&self) -> Result<Vec<Stored>> {
        if self.seen.refusal().is_some() {
            return Ok(Vec::new());
        }
        let query = Query::new(KeyRange::rows(self.partition_key.as_str(), TextRange::prefix(PREFIX)));
        let mut queue = Vec::new();
        let add = |entity: EntityRef<'_>| Stored::read(entity).map(|stored| queue.extend(stored));
        match each_row(self.store, self.table, &query, add).await {
            Err(error) if is_refusal(error.code()) => {
                self.seen.refuse(error);
                return Ok(Vec::new());
            }
            read => read?,
        }
        queue.sort_unstable_by_key(|stored| stored.reservation);
        self.seen.keep_passed(|id| queue.iter().any(|stored| stored.reservation.id == id));
        Ok(queue)
    }

    /// Returns the reservation that a transaction waits for, if any.
    pub(super) fn ahead<'q>(&self, queue: &'q [Stored], own: Option<Reservation>) -> Option<&'q Stored> {
        let first = queue.iter().find(|stored| !self.seen.is_passed(stored.reservation.id));
        first.filter(|first| own != Some(first.reservation))
    }

    /// Reserves the partition or renews the reservation. The first transaction of the queue touches rows. Returns `None` if the
    /// credential does not cover reservations.
    ///
    /// # Errors
    /// Any error of a query or a transaction, except a lost response: the reservation is then treated as inserted.
    pub(super) async fn reserve(
        &self,
        own: Option<Reservation>,
        hold: Duration,
        mut rows: Vec<RowKey>,
        random: impl Fn() -> u64,
    ) -> Result<Option<Reservation>> {
        let queue = self.read().await?;
        if self.seen.refusal().is_some() {
            return Ok(None);
        }
        let own = own.filter(|own| queue.iter().any(|stored| stored.reservation == *own));
        if self.ahead(&queue, own).is_some() {
            rows.clear();
        }
        rows.truncate(self.store.capabilities().limits.operations.saturating_sub(1));
        let last = queue.last().map_or(0, |stored| stored.reservation.place);
        let next = own.unwrap_or(Reservation { place: last.saturating_add(1), id: random() });
        loop {
            match self.write(next, hold, &rows).await {
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

    /// Writes a reservation and touches rows. If one of these does not exist, nothing is written, and its position is returned.
    async fn write(
        &self,
        reservation: Reservation,
        hold: Duration,
        rows: &[RowKey],
    ) -> Result<Option<usize>> {
        let mut row = RowWriter::with_capacity(1);
        row.property(HOLD, ValueRef::Int64(i64::try_from(hold.as_millis()).unwrap_or(i64::MAX)));
        let kind = OperationKind::InsertOrReplace(row.finish());
        let mut operations = vec![Operation { row_key: reservation.row_key()?, kind }];
        let touched =
            rows.iter().map(|row_key| Operation { row_key: row_key.clone(), kind: touch(IfMatch::Any) });
        operations.extend(touched);
        let Err(error) = self.submit(operations).await else { return Ok(None) };
        match error.operation().and_then(|at| at.checked_sub(1)) {
            Some(at) if error.is_not_found() && at < rows.len() => Ok(Some(at)),
            _ => Err(error),
        }
    }

    /// Deletes a reservation whose hold has ended, unless it has been renewed.
    ///
    /// # Errors
    /// Any error of a transaction, except that the reservation was deleted or renewed.
    pub(super) async fn pass(&self, stored: &Stored) -> Result<()> {
        self.seen.pass(stored.reservation.id);
        let kind = OperationKind::Delete(IfMatch::ETag(stored.etag.clone()));
        match self.submit(vec![Operation { row_key: stored.reservation.row_key()?, kind }]).await {
            Err(error) if !error.is_conflict() && !error.is_ambiguous() && !is_refusal(error.code()) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Deletes the reservation of a transaction that has ended. Errors are ignored: the outcome of the transaction is known, and the others
    /// delete the reservation after its hold.
    pub(super) async fn release(&self, own: Reservation) {
        if let Ok(delete) = own.delete() {
            let _expires_otherwise = self.submit(vec![delete]).await;
        }
    }

    async fn submit(&self, operations: Vec<Operation>) -> Result<()> {
        let limits = self.store.capabilities().limits;
        let mut transaction = Transaction::new(self.partition_key.clone(), limits)?;
        operations.into_iter().try_for_each(|operation| transaction.push(operation))?;
        self.store.submit(self.table, transaction).await.map(drop)
    }
}
